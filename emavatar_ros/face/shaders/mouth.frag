// Teeth, gums and tongue: wet, and darker the deeper they lie.
in vec3 world;
in vec3 facing;
in vec3 origin;
in vec3 spot;
in vec4 marks;           // teeth: gum, along from the edge, to the side
in vec4 open;
uniform float mouth_light;
uniform int what;        // 0 tongue, 1 teeth
out vec4 colour;
void main() {
    vec3 n = normalize(facing);
    vec3 v = normalize(eye - world);
    float deep = clamp((1.50 - origin.z) * 1.7, 0.0, 1.0);
    float reach = mix(0.30, 1.0, mouth_light) * (1.0 - 0.80 * deep);
    vec3 albedo = vec3(0.50, 0.14, 0.14);
    if (what == 1) {
        vec3 enamel = mix(vec3(0.80, 0.80, 0.77), vec3(0.74, 0.68, 0.56), smoothstep(0.35, 1.0, marks.y));
        enamel *= 1.0 - 0.30 * smoothstep(0.75, 1.0, marks.z);
        albedo = mix(enamel, vec3(0.45, 0.15, 0.14), smoothstep(0.2, 0.6, marks.x));
    } else {
        albedo *= 0.8 + 0.2 * smoothstep(0.0, 0.05, abs(origin.x));
    }
    float d = clamp((dot(n, KEY) + 0.35) / 1.35, 0.0, 1.0);
    vec3 c = albedo * (KEY_COLOUR * d * 0.62 + ambient(n) * 0.75) * reach;
    float nh = clamp(dot(n, normalize(KEY + v)), 0.0, 1.0);
    nh *= nh; nh *= nh; nh *= nh; nh *= nh; nh *= nh;
    c += vec3(0.30) * nh * reach * reach;
    colour = vec4(screen(c), 1.0);
}
