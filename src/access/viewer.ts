/**
 * Who asks, as an API server knows them: the user of a TokenReview, of a verified JWT, or of a trusted proxy's headers.
 * The first four members go into every SubjectAccessReview.
 */
export interface Viewer {
  readonly username: string
  /** Empty where the authenticator knows none. */
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  /** The clusters in which the caller's `system:` users and groups mean something; `*`: all. Absent: the default cluster alone. */
  readonly systemIdentityClusters?: readonly string[] | undefined
}

/** The group of everybody whom an API server knows. */
export const authenticatedGroup = 'system:authenticated'

const anonymous: Viewer = {
  username: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
}

const foreign = new WeakMap<Viewer, Viewer>()

/**
 * A viewer in a cluster that their `system:` names do not come from. Each cluster has its own ServiceAccounts, nodes and
 * administrators under these names: such groups are left out, save the one of everybody who is known, and such a user is anonymous.
 */
export function foreignViewer(viewer: Viewer): Viewer {
  const { username, groups } = viewer
  if (isSystem(username)) return anonymous
  let other = foreign.get(viewer)
  if (other === undefined) {
    const meant = groups.filter((group) => group === authenticatedGroup || !isSystem(group))
    other = meant.length === groups.length ? viewer : { ...viewer, groups: meant }
    foreign.set(viewer, other)
  }
  return other
}

function isSystem(name: string): boolean {
  return name.startsWith('system:')
}
