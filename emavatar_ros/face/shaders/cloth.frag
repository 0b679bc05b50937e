// The garment: a knitted shell over the body, cut along a neckline with a ribbed border.
in vec4 light;
in vec4 origin;
uniform vec3 cloth;
uniform vec3 collar;
uniform vec4 neckline;   // height behind and in front of the neck, width of the border in dm, depth of a V
uniform sampler2D knit;
out vec4 colour;
void main() {
    vec3 p = origin.xyz;
    // How far inside the garment's edge: the same as pose.cut.
    float edge = mix(neckline.x, neckline.y, smoothstep(-0.2, 1.0, p.z)) + 0.10 * abs(p.x)
        - neckline.w * max(0.0, 1.0 - abs(p.x) * 1.6) * smoothstep(0.3, 0.9, p.z) - p.y;
    float a = clamp(edge / (fwidth(edge) + 1e-5) + 0.5, 0.0, 1.0);
    if (a < 0.02) discard;
    float border = clamp((neckline.z - edge) * 60.0, 0.0, 1.0);
    vec2 at = mix(p.xy * 9.0, vec2(p.x * 7.0 / (0.35 + abs(p.z)), 0.25), border);
    float yarn = texture(knit, at).r;
    vec3 albedo = mix(cloth * cloth, collar * collar, border) * (0.80 + 0.40 * yarn);
    float seam = clamp(1.0 - abs(edge - neckline.z) * 45.0, 0.0, 1.0);
    float rim = clamp(edge * 28.0, 0.0, 1.0);
    vec3 c = albedo * light.rgb * (1.0 - 0.30 * seam) * (0.55 + 0.45 * rim);
    colour = vec4(screen(c), a);
}
