// Hair: ribbons that turn with the head.
uniform mat4 camera;
uniform mat3 turn;
uniform vec3 pivot;
in vec3 place;
in vec3 normal;
in vec3 along;
in vec4 look;            // across (-1 to 1), along (0 to 1), tone, seed
in float follow;
out vec3 world;
out vec3 facing;
out vec3 way;
out vec4 spot;
out vec3 origin;
void main() {
    world = mix(place, turn * (place - pivot) + pivot, follow);
    facing = turn * normal;
    way = turn * along;
    spot = look;
    origin = place;
    gl_Position = camera * vec4(world, 1.0);
}
