import { nothingVisible, type Scope, unrestricted } from '../../query/condition/scope.ts'
import type { Kind } from '../model/kind.ts'
import { ClientError } from '../errors/client-error.ts'
import type { FollowedList } from '../operation/followed-list.ts'
import type { ClusterKind } from '../prepare/kind-view.ts'
import { PermissionWait } from '../prepare/permission-wait.ts'
import {
  forbiddenList,
  type KindNeed,
  tooManyNamespaces,
  type ViewerAccess,
} from '../prepare/viewer-access.ts'
import {
  askPermissions,
  isPermitted,
  type PermissionCheck,
  permittedUntilMs,
  permissionKey,
} from './permission-check.ts'
import { type GroupKindAccess, GroupAccess, unrestrictedGroupAccess } from './group-access.ts'

/** What is looked at. */
export interface Sought {
  readonly list: FollowedList
  /** The kinds that are read, the followed one first. */
  readonly needs: readonly ClusterKind[]
  /** Kinds of which it has to be known everywhere what may be listed, as relations lead to them from anywhere. */
  readonly wide: ReadonlySet<Kind>
  /** What has to be known besides, by `permissionKey`. */
  readonly privileges: ReadonlyMap<string, PermissionCheck>
  /** How long a kind is waited for. */
  readonly syncDeadlineMs: number
}

/** What a viewer sees, asked where it is not known. Rejects with the `ClientError` of the followed kind. */
export async function resolveGroupAccess(
  access: ViewerAccess | undefined,
  sought: Sought,
): Promise<GroupAccess> {
  if (access === undefined) return unrestrictedGroupAccess(sought.needs)
  const permissions = new PermissionWait(sought.syncDeadlineMs)
  for (;;) {
    const known = knownGroupAccess(access, sought)
    if (known instanceof GroupAccess) return known
    if (permissions.isOver()) break
    // oxlint-disable-next-line no-await-in-loop -- what one answer leaves open is asked next
    await Promise.all(known.map((ask) => ask()))
  }
  throw new ClientError(
    'CLUSTER_UNREACHABLE',
    'permissions change faster than they can be asked for',
    {
      cluster: sought.list.at.cluster,
      retryAfterMs: 1_000,
    },
  )
}

type Question = () => Promise<unknown>

/** What a viewer sees, or what has to be asked first. Throws the `ClientError` of the followed kind. */
function knownGroupAccess(
  access: ViewerAccess,
  { list, needs, wide, privileges }: Sought,
): GroupAccess | readonly Question[] {
  const open: Question[] = []
  const [root] = needs
  if (root === undefined) throw new TypeError('nothing is followed')
  const scope = listed(access, { ...root, list: { within: list.within, watch: true } }, open)
  if (scope === undefined) return open
  if (scope instanceof ClientError) throw scope
  const kinds: GroupKindAccess[] = []
  const namespaces =
    list.within ?? (scope.form === 'namespaces' ? [...scope.namespaces] : undefined)
  const filtering = filteringKinds(list)
  const held = heldOf(access, privileges, open)
  const named = new Set(held.map((one) => one.form === 'look' && one.at.kind))
  // Relations may lead to objects of the followed kind, too.
  for (const at of needs) {
    const within = wide.has(at.kind) ? undefined : namespaces
    const watch = filtering.has(at.kind)
    const ofKind = listed(access, { ...at, list: { within, watch } }, open)
    if (ofKind === undefined) continue
    const isWhole = !(ofKind instanceof ClientError) && ofKind.form === 'all'
    const look = isWhole ? unrestricted : lookedUp(access, at, ofKind, namespaces ?? [], open)
    kinds.push({ at, list: ofKind, within, look, looksAtNames: named.has(at.kind) })
  }
  if (open.length > 0) return open
  const asked = new Set(privileges.keys())
  const allowed = new Set(held.map(permissionKey))
  const until = held.map((one) => permittedUntilMs(access, one))
  return new GroupAccess(scope, kinds, {
    untilMs: Math.min(untilMs(access, { root, scope, kinds, filtering }), ...until),
    privileges: { asked, allowed },
  })
}

/** Which of these a viewer has. */
function heldOf(
  access: ViewerAccess,
  privileges: Sought['privileges'],
  open: Question[],
): readonly PermissionCheck[] {
  const held: PermissionCheck[] = []
  const unknown: PermissionCheck[] = []
  for (const one of privileges.values()) {
    const has = isPermitted(access, one)
    if (has === undefined) unknown.push(one)
    else if (has) held.push(one)
  }
  if (unknown.length > 0) open.push(() => askPermissions(access, unknown))
  return held
}

/** What lets objects in and out of a list is followed, as the list is: its changes are told by what comes and goes. */
function filteringKinds({ needs }: FollowedList): ReadonlySet<Kind> {
  return new Set(needs.map(({ kind }) => kind))
}

/** `undefined` where it has to be asked for. */
function listed(
  access: ViewerAccess,
  need: KindNeed & Required<Pick<KindNeed, 'list'>>,
  open: Question[],
): Scope | ClientError | undefined {
  const known = access.list(need, need.list)
  switch (known.state) {
    case 'allowed':
      return known.scope
    case 'forbidden':
      return forbiddenList(need, need.list.watch)
    // Of what is followed everything is in memory.
    case 'some':
    case 'tooMany':
      return tooManyNamespaces(need, known.most)
    case 'unknown':
      open.push(() => access.ask(need))
      return undefined
  }
}

/** What may be looked at by its name: everything, whole namespaces, or Namespaces themselves. */
function lookedUp(
  access: ViewerAccess,
  at: ClusterKind,
  list: Scope | ClientError,
  namespaces: readonly string[],
  open: Question[],
): Scope {
  const { resource } = at.kind
  const ask = (known: boolean | undefined, question: Question): boolean => {
    if (known === undefined) open.push(question)
    return known === true
  }
  const inLists = 'form' in list && list.form === 'namespaces' ? list.namespaces : new Set<string>()
  const isListed = (namespace: string): boolean => inLists.has(namespace)
  if (resource.namespaced && namespaces.length > 0 && namespaces.every(isListed)) {
    return { form: 'namespaces', namespaces: inLists }
  }
  if (ask(access.looksIn(at, ''), () => access.mayLookIn(at, ''))) return unrestricted
  if (open.length > 0) return nothingVisible
  if (resource.namespaced) {
    const seen = [...new Set([...namespaces, ...inLists])].filter(
      (namespace) =>
        isListed(namespace) ||
        ask(access.looksIn(at, namespace), () => access.mayLookIn(at, namespace)),
    )
    return seen.length === 0 ? nothingVisible : { form: 'namespaces', namespaces: new Set(seen) }
  }
  if (resource.group !== '' || resource.resource !== 'namespaces') return nothingVisible
  const seen = namespaces.filter((name) =>
    ask(access.looks(at, name), () => access.mayLook(at, name)),
  )
  return { form: 'names', keys: new Set(seen) }
}

interface Seen {
  readonly root: ClusterKind
  readonly scope: Scope
  readonly kinds: readonly GroupKindAccess[]
  readonly filtering: ReadonlySet<Kind>
}

/** Until when all of it is believed where nothing is heard. */
function untilMs(access: ViewerAccess, { root, scope, kinds, filtering }: Seen): number {
  const each = kinds.map(({ at, list, look }) => {
    const places = new Set('form' in list ? placesOf(list) : [])
    const others = placesOf(look).filter((place) => !places.has(place) && !places.has(''))
    const verbs = filtering.has(at.kind) ? ['list', 'watch'] : ['list']
    const untilListed = access.allowedUntilMs(at, places, verbs)
    return Math.min(untilListed, access.allowedUntilMs(at, others, ['get']))
  })
  return Math.min(access.allowedUntilMs(root, placesOf(scope), ['list', 'watch']), ...each)
}

function placesOf(scope: Scope): readonly string[] {
  switch (scope.form) {
    case 'all':
      return everywhere
    case 'namespaces':
      return [...scope.namespaces]
    case 'names':
      return [...scope.keys]
  }
}

const everywhere = ['']
