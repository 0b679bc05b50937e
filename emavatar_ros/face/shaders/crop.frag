// One shell of cropped hair: what of the curls reaches this height.
in vec4 light;
in vec4 spot;
uniform vec2 edge;           // cover that is drawn: from, below
uniform sampler2D curls;     // red: height, green: tone
uniform vec3 root_colour;
uniform vec3 tip_colour;
uniform float grey;
out vec4 colour;
void main() {
    vec2 curl = texture(curls, spot.xy * 1.15).rg;
    float a = clamp((curl.r - spot.z * 0.78) * 5.0 + 0.35 - 3.0 * clamp(1.0 - spot.w * 6.0, 0.0, 1.0) * (1.1 - curl.r), 0.0, 1.0);
    if (a < edge.x || a >= edge.y) discard;
    vec3 albedo = mix(root_colour, tip_colour, curl.g * spot.z);
    float silver = grey * clamp((curl.g - 0.62 + 0.60 * light.w) * 2.5, 0.0, 1.0);
    albedo = mix(albedo, vec3(0.46, 0.455, 0.45), silver);
    albedo *= albedo;
    vec3 c = albedo * light.rgb * (0.55 + 0.9 * curl.r);
    colour = vec4(screen(c), a);
}
