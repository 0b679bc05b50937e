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
in float height;
out vec3 light;
out vec4 spot;           // texture coordinates, height above the skin, how grey
void main() {
    vec3 world = mix(place, turn * (place - pivot) + pivot, follow);
    gl_Position = camera * vec4(world, 1.0);
    vec3 n = normalize(turn * normal), v = normalize(eye - world);
    float d = clamp((dot(n, KEY) + 0.25) / 1.25, 0.0, 1.0);
    float edge = 1.0 - clamp(dot(n, v), 0.0, 1.0);
    light = KEY_COLOUR * d * 1.1 + ambient(n) + FILL_COLOUR * max(dot(n, FILL), 0.0);
    light += RIM_COLOUR * edge * edge * (max(dot(n, RIM_LEFT), 0.0) + max(dot(n, RIM_RIGHT), 0.0)) * 1.2;
    light *= 0.25 + 0.75 * height;
    spot = vec4(at, height, smoothstep(8.05, 7.35, place.y));
}
