/** The texts of who may do what. */
export const accessWords = {
  title: 'Who may do what',
  whoMay: 'Who may',
  whoMayDo: (kind: string): string => `Who may do something with this ${kind}`,
  inNamespace: (name: string): string => `Who may do something in ${name}`,
  ofAccount: 'What this account may do',
  ofSubject: (name: string): string => `What ${name} may do`,
  back: 'Back to all',
  in: (namespace: string | undefined, cluster: string): string =>
    namespace === undefined
      ? `In all namespaces of ${cluster}. Choose a namespace at the top to see what holds in it.`
      : `In ${namespace}, in ${cluster}.`,
  each: 'A role holds in its own cluster only.',
  defaultCluster: 'the default cluster',
  allClusters: 'all clusters',
  verb: 'Verb',
  anyVerb: 'Any verb',
  kind: 'Kind',
  anyKind: 'Any kind',
  subjectKind: 'Whom',
  anybody: 'Anybody',
  subjectName: 'Name',
  accountHint: 'namespace/name',
  ask: 'Show',
  columns: { who: 'Who', may: 'May', on: 'On', where: 'Where', why: 'Why', cluster: 'Cluster' },
  kinds: { USER: 'User', GROUP: 'Group', SERVICE_ACCOUNT: 'ServiceAccount' },
  everywhere: 'everywhere',
  everything: 'everything',
  only: 'only',
  by: 'by',
  more: (shown: number, total: number): string =>
    `The first ${shown.toLocaleString()} of ${total.toLocaleString()}.`,
  showMore: 'Show more',
  narrow: 'Choose a verb, a kind or a namespace to see the others.',
  further: (count: number): string => `${count.toLocaleString()} more`,
  nobody: 'No role grants this to anybody.',
  nobodySeen: 'No role that you may see grants this to anybody.',
  nothing: 'No role grants this.',
  nothingSeen: 'No role that you may see grants this.',
  part: 'You see a part of the roles and bindings only, so there may be more.',
  refused: (kinds: readonly string[], cluster: string | undefined): string =>
    `You may not list ${kinds.join(', ')}${cluster === undefined ? '' : ` in ${cluster}`}, so there may be more.`,
  unseen: 'Bindings name roles that you may not see, which may grant it as well:',
  failed: 'Who may do what cannot be shown.',
} as const

/** The verbs to choose from, the most asked first. */
export const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'impersonate',
  'bind',
  'escalate',
] as const
