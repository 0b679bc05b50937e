// Skin, cloth, mouth and lashes: turns what belongs to the head, and lights vertices where pixels are dear.
uniform mat4 camera;
uniform mat3 turn;       // the head's rotation
uniform vec3 pivot;      // that it turns about, dm
uniform float breath;    // 0 out, 1 in
uniform vec4 wrinkles;   // how much shows: forehead, frown, smile, -
uniform float mouth_light;
in vec3 place;
in vec3 normal;
in vec3 canon;
in vec4 paint;           // texture coordinates, how far the vertex follows the head, how much its skin shines
in vec4 mask;            // skin: lips, inside of the mouth, ears, lids
in vec4 shade;           // open to: all around, key light, left, right
out vec4 facing;         // normal; shine
out vec4 spot;           // texture coordinates, lips, inside of the mouth
out vec4 light;          // light to be multiplied by the colour; glance
out vec4 origin;         // place in the base mesh; crease
#ifdef FINE
out vec3 world_;
out vec4 open;
#endif
void main() {
    vec3 world = mix(place, turn * (place - pivot) + pivot, paint.z);
    world += vec3(0.0, 0.022, 0.012) * (breath - 0.5) * smoothstep(6.6, 5.2, canon.y);
    vec3 n = normalize(mix(normal, turn * normal, paint.z));
    vec3 v = normalize(eye - world);
    facing = vec4(n, paint.w);
    spot = vec4(paint.xy, mask.xy);
    origin = vec4(canon, 0.0);
    gl_Position = camera * vec4(world, 1.0);
#ifdef SKIN
    float brow = smoothstep(7.55, 7.62, canon.y), middle = smoothstep(0.20, 0.13, abs(canon.x));
    origin.w = mix(mix(wrinkles.z, wrinkles.y, middle), wrinkles.x, brow);
    light = vec4(skin_light(n, shade) * mix(vec3(1.0), vec3(0.98, 0.88, 0.84), max(mask.w * 0.6, mask.z)),
        glance(n, v, shade));
    float deep = clamp((1.50 - canon.z) * 2.2, 0.0, 1.0);
    vec3 inside = vec3((1.0 - deep) * (1.0 - deep) * mouth_light * 0.60 + 0.035);
    light = mix(light, vec4(inside, 0.0), mask.y);
    // The wall of the mouth stands behind the teeth, whatever the lips do.
    gl_Position.z += 0.030 * mask.y * gl_Position.w;
#endif
#ifdef CLOTH
    float fuzz = 1.0 - clamp(dot(n, v), 0.0, 1.0);
    fuzz *= fuzz;
    light = vec4(cloth_light(n, shade) + 0.35 * fuzz * ambient(n) + RIM_COLOUR * fuzz * 0.5
        * (max(dot(n, RIM_LEFT), 0.0) * shade.z + max(dot(n, RIM_RIGHT), 0.0) * shade.w), 0.0);
#endif
#ifdef MOUTH
    // Lips press on the teeth and must never be pierced by them.
    gl_Position.z += 0.010 * gl_Position.w;
    float reach = mix(0.30, 1.0, mouth_light) * (1.0 - 0.80 * clamp((1.50 - canon.z) * 1.7, 0.0, 1.0));
    float d = clamp((dot(n, KEY) + 0.55) / 1.55, 0.0, 1.0);
    float h = clamp(dot(n, normalize(KEY + v)), 0.0, 1.0);
    h *= h; h *= h; h *= h; h *= h;
    light = vec4((KEY_COLOUR * d * 0.75 + ambient(n) * 0.75) * reach, 0.22 * h * reach * reach);
    origin.w = mask.z;
#endif
#ifdef LASH
    origin.w = mask.z;
    light = vec4(mask);
#endif
#ifdef FINE
    world_ = world;
    open = shade;
#endif
}
