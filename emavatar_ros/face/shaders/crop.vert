// Cropped hair: shells over the scalp, lit per vertex.
uniform mat4 camera;
uniform mat3 turn;
uniform vec3 pivot;
uniform vec3 root_colour;
uniform vec3 tip_colour;
in vec3 place;
in vec3 normal;
in float follow;
in vec2 at;
in vec2 height;          // above the skin, and in from the edge: 0 to 1 each
out vec4 light;          // light; how grey
out vec4 spot;           // texture coordinates, height above the skin, how far in from the edge
void main() {
    vec3 world = mix(place, turn * (place - pivot) + pivot, follow);
    gl_Position = camera * vec4(world, 1.0);
    vec3 n = normalize(turn * normal), v = normalize(eye - world);
    float d = clamp((dot(n, KEY) + 0.25) / 1.25, 0.0, 1.0);
    float edge = 1.0 - clamp(dot(n, v), 0.0, 1.0);
    light.rgb = KEY_COLOUR * d * 1.2 + ambient(n) + FILL_COLOUR * max(dot(n, FILL), 0.0);
    light.rgb += RIM_COLOUR * edge * edge * (max(dot(n, RIM_LEFT), 0.0) + max(dot(n, RIM_RIGHT), 0.0)) * 1.2;
    light.rgb *= 0.30 + 0.70 * height.x;
    light.w = smoothstep(8.05, 7.35, place.y);
    spot = vec4(at, height);
}
