// Lashes: thin, dark, fading out to the tip.
in vec4 light;           // -, along, side, upper
uniform vec3 tint;
uniform float strength;
out vec4 colour;
void main() {
    float side = 1.0 - abs(light.z * 2.0 - 1.0);
    float a = strength * mix(0.45, 1.0, light.w) * (1.0 - 0.75 * light.y) * smoothstep(0.0, 0.7, side);
    colour = vec4(tint * 0.6, a);
}
