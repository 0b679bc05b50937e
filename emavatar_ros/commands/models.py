"""`emavatar models`: what the store holds, fetching, preparing and checking it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from emavatar_ros.commands import Commands, add_profile, avatar_of, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'models', 'list, fetch, prepare and check the models', run)
    actions = parser.add_subparsers(title='actions', metavar='ACTION', required=True, dest='action')
    listing = actions.add_parser('list', help='every model: size, licence, job, and whether it is here',
                                 description='Every model the package knows: whether it is here, size, licence, job.')
    listing.add_argument('--profile', metavar='NAME', help='only those a profile needs')
    listing.add_argument('--json', action='store_true', help='one JSON list')
    pull = actions.add_parser('pull', help='fetch models into the cache',
                              description='Fetch models into the cache; what is there is not fetched again, and an '
                              'interrupted download goes on where it stopped.')
    pull.add_argument('names', nargs='*', metavar='MODEL', help='names from "emavatar models list"')
    pull.add_argument('--profile', metavar='NAME', help='what a profile needs: embedded (also when nothing is named), '
                      'workstation, jetson')
    ready = actions.add_parser('prepare', help='have avatars\' first replies ready',
                               description='Let the language model read what avatars are told to be and their voices '
                               'say what they say at once: a minute of computing for each and language, once. '
                               '"pull" does so for the profile\'s own avatar.')
    ready.add_argument('avatars', nargs='*', metavar='AVATAR',
                       help='names from "emavatar avatar list" or folders, ./mine (default: all there are)')
    add_profile(ready)
    verify = actions.add_parser('verify', help='check the sha256 of every file in the cache',
                                description='Check the sha256 of every file of the models named, or of all there are.')
    verify.add_argument('names', nargs='*', metavar='MODEL', help='names from "emavatar models list"')
    verify.add_argument('--json', action='store_true', help='one JSON list')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros import avatars
    from emavatar_ros.errors import EmavatarError
    from emavatar_ros.models.store import Store

    store = Store()
    if args.action == 'pull':
        profile = args.profile or (None if args.names else 'embedded')
        new = [name for name in store.select(args.names, profile) if not store.cached(name)]
        folders = store.pull(args.names, profile)
        print(f'{len(folders)} models are in {store.root}', file=sys.stderr)
        if profile and (new or not list(store.root.glob('.prefix/*'))):
            try:
                prepare(profile, [avatar_of(argparse.Namespace(avatar='', profile=profile))])
            except EmavatarError as error:
                print(f'not prepared, the first reply will be slower: {error}', file=sys.stderr)
        return 0
    if args.action == 'prepare':
        prepare(args.profile, args.avatars or avatars.names())
        return 0
    if args.action == 'list':
        wanted = set(store.select(profile=args.profile)) if args.profile else None
        rows = [row for row in store.list_models() if wanted is None or row.name in wanted]
        if args.json:
            print(json.dumps([{'name': row.name, 'job': row.job, 'licence': row.licence, 'bytes': row.bytes,
                               'profiles': row.profiles, 'cached': row.cached} for row in rows], indent=1))
        else:
            width = max((len(row.name) for row in rows), default=0)
            for row in rows:
                print(f'{row.name:{width}}  {"here" if row.cached else "-":4}  {row.bytes / 1e6:7.1f} MB  '
                      f'{row.licence:10}  {row.job}')
        return 0
    verdicts = store.verify(args.names)
    if args.json:
        print(json.dumps([{'name': v.name, 'ok': v.ok, 'detail': v.detail, 'remedy': v.remedy} for v in verdicts],
                         indent=1))
    else:
        for verdict in verdicts:
            print(f'{verdict.name}: {verdict.detail}' + (f'; run: {verdict.remedy}' if verdict.remedy else ''))
        if not verdicts:
            print(f'no models in {store.root}: run emavatar models pull', file=sys.stderr)
    return 0 if verdicts and all(verdict.ok for verdict in verdicts) else 3


def prepare(profile: str, names: Sequence[str]) -> None:
    """Let the language model read these avatars' instructions, in as many languages as the profile keeps ready, and
    their voices say what is said at once. Both are kept beside the models: their first reply then comes as fast as any,
    and a change to them on the stage takes no minutes."""
    from emavatar_ros import avatars, profiles
    from emavatar_ros.planning import planner
    from emavatar_ros.rooms import Rooms
    from emavatar_ros.voice.rehearsed import acknowledging

    people = [avatars.load(name) for name in names]
    for avatar in people:
        print(f'preparing the voice of {avatar.name}', file=sys.stderr)
        acknowledging(Rooms(profiles.load(profile), avatar).voice(), avatar).warm_up()
    rooms = Rooms(profiles.load(profile), people[0])
    llm = rooms.llm()
    if llm is None:
        print(f'nothing to prepare: the profile {profile} writes its replies from templates', file=sys.stderr)
        return
    try:
        for avatar in people:
            print(f'preparing the language model for {avatar.name}', file=sys.stderr)
            planner.Planner(rooms.config('planner'), avatar.persona, llm).warm_up(avatar.languages)
    finally:
        llm.close()
