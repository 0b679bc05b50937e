// Teeth, gums and tongue: wet, and darker the deeper they lie.
in vec4 spot;            // -, -, teeth: gum, along from the biting edge
in vec4 light;
in vec4 origin;          // place in the base mesh; teeth: to the side
uniform int what;        // 0 tongue, 1 teeth
out vec4 colour;
void main() {
    vec3 enamel = mix(vec3(0.80, 0.79, 0.74), vec3(0.74, 0.67, 0.56), smoothstep(0.4, 1.0, spot.w));
    enamel *= 1.0 - 0.28 * smoothstep(0.75, 1.0, origin.w);
    vec3 teeth = mix(enamel, vec3(0.42, 0.13, 0.12), smoothstep(0.2, 0.6, spot.z));
    vec3 tongue = vec3(0.48, 0.13, 0.13) * (0.8 + 0.2 * smoothstep(0.0, 0.05, abs(origin.x)));
    colour = vec4(screen((what == 1 ? teeth : tongue) * light.rgb + light.w), 1.0);
}
