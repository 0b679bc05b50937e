// An eyeball: a sphere that turns with the gaze inside the head.
uniform mat4 camera;
uniform mat3 turn;
uniform vec3 pivot;
uniform vec4 ball;       // centre and radius, dm
in vec3 place;           // on the unit sphere
out vec3 world;
out vec3 facing;
out vec3 inner;          // place in the head's own frame, dm
void main() {
    inner = place * ball.w * 0.985 + ball.xyz;
    facing = turn * place;
    world = turn * (inner - pivot) + pivot;
    gl_Position = camera * vec4(world, 1.0);
}
