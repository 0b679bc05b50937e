// Hair: ribbons that turn with the head, lit along their length.
uniform mat4 camera;
uniform mat3 turn;
uniform vec3 pivot;
uniform vec3 root_colour;
uniform vec3 tip_colour;
uniform float grey;
in vec3 place;
in vec3 normal;
in vec3 along;
in vec4 look;            // across (-1 to 1), along (0 to 1), tone (-1 to 1), seed (0 to 1)
in float follow;
in float openness;
out vec4 tone;           // colour under diffuse light; -
out vec3 shine;
out vec4 spot;           // across, along, seed, 1 for a sheet
void main() {
    vec3 world = mix(place, turn * (place - pivot) + pivot, follow);
    gl_Position = camera * vec4(world, 1.0);
    vec3 n = normalize(turn * normal), t = normalize(turn * along), v = normalize(eye - world);
    vec3 albedo = mix(root_colour, tip_colour, clamp(look.y * 0.75 + look.z * 0.5, 0.0, 1.0));
    float silver = clamp((grey - fract(look.w * 7.31)) * 6.0 + 0.5, 0.0, 1.0) * step(0.001, grey);
    albedo = mix(albedo, vec3(0.50, 0.49, 0.48), silver * 0.6);
    albedo *= albedo;
    float tl = dot(t, KEY), tv = dot(t, v);
    float lit = clamp((dot(n, KEY) + 0.30) / 1.30, 0.0, 1.0);
    float diffuse = lit * sqrt(max(0.0, 1.0 - tl * tl));
    vec3 c = albedo * (KEY_COLOUR * diffuse * 0.95 + ambient(n) * 0.75 + FILL_COLOUR * max(dot(n, FILL), 0.0));
    float edge = 1.0 - abs(dot(n, v));
    c += (albedo * 1.5 + 0.002) * RIM_COLOUR * edge * edge
        * (max(dot(n, RIM_LEFT), 0.0) + max(dot(n, RIM_RIGHT), 0.0)) * 0.9;
    float th = dot(t, normalize(KEY + v)) + look.z * 0.05;
    float s1 = max(0.0, 1.0 - (th + 0.06) * (th + 0.06)), s2 = max(0.0, 1.0 - (th - 0.14) * (th - 0.14));
    shine = (vec3(0.080, 0.068, 0.058) * pow(s1, 90.0) + albedo * 2.0 * pow(s2, 20.0)) * KEY_COLOUR * lit * openness
        * smoothstep(0.0, 0.3, look.y);
    tone = vec4(c * openness, 0.0);
    spot = vec4(look.x, look.y, look.w, look.x == 0.0 ? 1.0 : 0.0);
}
