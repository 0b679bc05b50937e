"""`emavatar models`: what the store holds, fetching and checking it."""

from __future__ import annotations

import argparse
import json
import sys

from emavatar_ros.commands import AVATAR, Commands, command


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = command(commands, 'models', 'list, fetch and check the models', run)
    actions = parser.add_subparsers(title='actions', metavar='ACTION', required=True, dest='action')
    listing = actions.add_parser('list', help='every model: size, licence, job, and whether it is here',
                                 description='Every model the package knows: whether it is here, size, licence, job.')
    listing.add_argument('--profile', metavar='NAME', help='only those a profile needs')
    listing.add_argument('--json', action='store_true', help='one JSON list')
    pull = actions.add_parser('pull', help='fetch models into the cache',
                              description='Fetch models into the cache; what is there is not fetched again, and an '
                              ' interrupted download goes on where it stopped.')
    pull.add_argument('names', nargs='*', metavar='MODEL', help='names from "emavatar models list"')
    pull.add_argument('--profile', metavar='NAME', help='what a profile needs: embedded (also when nothing is named), '
                      'workstation, jetson')
    verify = actions.add_parser('verify', help='check the sha256 of every file in the cache',
                                description='Check the sha256 of every file of the models named, or of all there are.')
    verify.add_argument('names', nargs='*', metavar='MODEL', help='names from "emavatar models list"')
    verify.add_argument('--json', action='store_true', help='one JSON list')


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from emavatar_ros.models.store import Store

    store = Store()
    if args.action == 'pull':
        profile = args.profile or (None if args.names else 'embedded')
        new = [name for name in store.select(args.names, profile) if not store.cached(name)]
        folders = store.pull(args.names, profile)
        print(f'{len(folders)} models are in {store.root}', file=sys.stderr)
        if profile and (new or not list(store.root.glob('.prefix/*'))):
            prepare(profile)
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


def prepare(profile: str) -> None:
    """Let the language model read the default avatar's instructions, whose result is kept beside the models: the first
    reply then comes as fast as any. Nothing is done where the model's runner is not installed."""
    from emavatar_ros import avatars, profiles
    from emavatar_ros.errors import EmavatarError
    from emavatar_ros.rooms import Rooms

    try:
        avatar = avatars.load(AVATAR)
        print(f'preparing the language model for {avatar.name}', file=sys.stderr)
        Rooms(profiles.load(profile), avatar).planner(len(avatar.languages))
    except EmavatarError as error:
        print(f'not prepared, the first reply will be slower: {error}', file=sys.stderr)
