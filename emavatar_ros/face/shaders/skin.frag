// Skin: painted colour under light that bleeds into the shade in red, wrinkles as they move, two layers of shine.
in vec4 facing;
in vec4 spot;
in vec4 light;
in vec4 origin;
#ifdef FINE
in vec3 world_;
in vec4 open;
uniform sampler2D relief;    // slopes of the pores: across, up
#endif
uniform sampler2D colours;   // colour as seen; alpha: creases (0.5 is none)
uniform vec3 lip_colour;
out vec4 colour;
void main() {
    vec4 paint = texture(colours, spot.xy);
    float lips = clamp(spot.z * 2.0 - 0.5, 0.0, 1.0);
    vec3 albedo = paint.rgb * paint.rgb;
    albedo = mix(albedo, lip_colour * lip_colour * (0.75 + 0.5 * paint.g), lips * 0.82);
    albedo = mix(albedo, vec3(0.36, 0.07, 0.07), spot.w);
    float crease = clamp(1.0 + origin.w * (paint.a - 0.5) * 2.0, 0.2, 1.5);
    vec3 n = normalize(facing.xyz);
#ifdef FINE
    vec3 across = normalize(vec3(n.z, 0.0, -n.x) + vec3(1e-4, 0.0, 0.0));
    vec2 slope = texture(relief, spot.xy).xy - 0.5;
    n = normalize(n - across * slope.x - cross(n, across) * slope.y);
    vec3 v = normalize(eye - world_);
    vec3 base = mix(skin_light(n, open), light.rgb, max(spot.w, 0.3));
    float glow = mix(glance(n, v, open), light.w, spot.w);
    vec3 h = normalize(KEY + v);
#else
    vec3 base = light.rgb;
    float glow = light.w;
    const vec3 h = vec3(-0.2560, 0.2817, 0.9247);
#endif
    vec3 c = albedo * base * vec3(crease, crease * mix(1.0, crease, 0.25), crease * mix(1.0, crease, 0.3));
    float nh = max(dot(n, h), 0.0);
    float n2 = nh * nh, n4 = n2 * n2, n8 = n4 * n4, n16 = n8 * n8, n32 = n16 * n16;
    float shine = facing.w * (0.09 * n8 * n4 + 0.15 * n32) + lips * (0.16 * n32 * n8 + 0.05 * n8);
    c += (shine * base.g * crease + glow * (0.35 + albedo)) * vec3(1.0, 0.97, 0.94) * (1.0 - spot.w);
    colour = vec4(screen(c), 1.0);
}
