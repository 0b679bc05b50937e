// Skin: light that bleeds into the shade in red, painted pores and wrinkles, two layers of shine.
in vec3 world;
in vec3 facing;
in vec3 origin;
in vec3 spot;
in vec4 marks;           // lips, inside of the mouth, ears, lids
in vec4 open;
uniform sampler2D colours;   // albedo as seen; alpha: shine
uniform sampler2D relief;    // slopes across and up (0.5 is flat), forehead lines, lines at the eyes
uniform vec3 lip_colour;
uniform vec4 wrinkles;       // forehead, frown, smile, age
uniform float neckline;      // 0 round, 1 collar
uniform float mouth_light;   // how far light gets into the mouth
out vec4 colour;
void main() {
    vec4 paint = texture(colours, spot.xy);
    vec4 bumps = texture(relief, spot.xy);
    vec3 n = normalize(facing);
    vec3 v = normalize(eye - world);
    vec3 across = normalize(vec3(n.z, 0.0, -n.x) + vec3(1e-4, 0.0, 0.0));
    vec3 up = cross(n, across);
    vec2 slope = (bumps.xy - 0.5) * 1.0;
    slope.y += (bumps.z - 0.5) * wrinkles.x;
    slope.y += (bumps.w - 0.5) * wrinkles.z;
    n = normalize(n - across * slope.x - up * slope.y);
    float lips = smoothstep(0.25, 0.75, marks.x);
    vec3 albedo = paint.rgb * paint.rgb;
    vec3 lip = lip_colour * lip_colour * (0.75 + 0.5 * paint.g);
    albedo = mix(albedo, lip, lips * 0.82);
    albedo *= mix(vec3(1.0), vec3(0.98, 0.86, 0.82), marks.w * 0.6);
    albedo *= mix(vec3(1.0), vec3(1.02, 0.82, 0.78), marks.z * 0.5);

    float ao = open.x, lit = open.y;
    float d = dot(n, KEY);
    vec3 wrap = clamp((d + vec3(0.38, 0.20, 0.15)) / vec3(1.38, 1.20, 1.15), 0.0, 1.0);
    vec3 shadow = mix(vec3(lit * lit) * vec3(0.55, 0.92, 1.0) + vec3(lit) * vec3(0.45, 0.08, 0.0), vec3(1.0), 0.08);
    vec3 light = KEY_COLOUR * wrap * shadow;
    light += FILL_COLOUR * clamp(dot(n, FILL) * 0.7 + 0.3, 0.0, 1.0) * ao;
    vec3 occluded = vec3(mix(ao, 1.0, 0.18), ao * mix(ao, 1.0, 0.35), ao * mix(ao, 1.0, 0.25));
    light += ambient(n) * occluded;
    vec3 c = albedo * light * 0.94;

    float nv = clamp(dot(n, v), 0.0, 1.0);
    float fresnel = 0.028 + 0.5 * (1.0 - nv) * (1.0 - nv) * (1.0 - nv) * (1.0 - nv);
    vec3 h = normalize(KEY + v);
    float nh = clamp(dot(n, h), 0.0, 1.0);
    float n2 = nh * nh, n4 = n2 * n2, n8 = n4 * n4, n16 = n8 * n8, n32 = n16 * n16;
    float shine = paint.a * (0.10 * n8 * n4 + 0.16 * n32) + lips * (0.20 * n32 * n8 + 0.05 * n8);
    c += KEY_COLOUR * shine * lit * clamp(d * 3.0, 0.0, 1.0);
    vec3 hf = normalize(FILL + v);
    float nf = clamp(dot(n, hf), 0.0, 1.0);
    nf *= nf; nf *= nf; nf *= nf;
    c += vec3(0.035, 0.04, 0.045) * nf * (paint.a + lips) * ao;
    c += SKY * fresnel * ao * 0.55;
    float edge = (1.0 - nv) * (1.0 - nv);
    float back = max(dot(n, RIM_LEFT), 0.0) * open.z + max(dot(n, RIM_RIGHT), 0.0) * open.w * 0.7;
    c += RIM_COLOUR * back * edge * 0.55 * (0.35 + albedo);

    // Inside of the mouth: dark, red, darker with depth.
    float deep = clamp((1.50 - origin.z) * 2.2, 0.0, 1.0);
    vec3 inside = vec3(0.16, 0.035, 0.035) * (1.0 - deep) * (1.0 - deep) * mouth_light + vec3(0.006, 0.002, 0.002);
    c = mix(c, inside, smoothstep(0.35, 0.9, marks.y));
    colour = vec4(screen(c), 1.0);
}
