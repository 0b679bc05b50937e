// Skin, cloth, mouth and lashes: turns what belongs to the head, and hands on what the fragment shaders need.
uniform mat4 camera;
uniform mat3 turn;       // the head's rotation
uniform vec3 pivot;      // that it turns about, dm
uniform float breath;    // 0 out, 1 in
in vec3 place;
in vec3 normal;
in vec3 canon;
in vec3 paint;           // texture coordinates, and how far the vertex follows the head (0 to 1)
in vec4 mask;
in vec4 shade;
out vec3 world;
out vec3 facing;
out vec3 origin;
out vec3 spot;
out vec4 marks;
out vec4 open;
void main() {
    vec3 turned = turn * (place - pivot) + pivot;
    world = mix(place, turned, paint.z);
    float chest = smoothstep(6.6, 5.2, canon.y);
    world += vec3(0.0, 0.022, 0.012) * (breath - 0.5) * chest;
    facing = mix(normal, turn * normal, paint.z);
    origin = canon;
    spot = vec3(paint.xy, paint.z);
    marks = mask;
    open = shade;
    gl_Position = camera * vec4(world, 1.0);
}
