import type { Condition } from '../kinds/filter-text.ts'
import { words } from '../words.ts'

/** What a table lists, as far as a command can say it. */
export interface Listed {
  /** `pods`, `deployments.apps`. */
  readonly resource: string
  /** Absent: that of the kubeconfig. */
  readonly clusters: readonly string[] | undefined
  /** Absent: all; `null`: the kind has none. */
  readonly namespaces: readonly string[] | null | undefined
  /** The tokens of its filter, each with its condition. */
  readonly filter: readonly { readonly text: string; readonly where: Condition }[]
  /** `restarts`, `-restarts`. */
  readonly sort: string | undefined
}

/** The field selectors of the API server, by the index that filters by the same field. */
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pods: {
    phase: 'status.phase',
    nodeName: 'spec.nodeName',
    podIP: 'status.podIP',
    serviceAccountName: 'spec.serviceAccountName',
  },
}

const orders: Readonly<Record<string, string>> = {
  name: '.metadata.name',
  namespace: '.metadata.namespace',
  '-age': '.metadata.creationTimestamp',
  creationTimestamp: '.metadata.creationTimestamp',
}

/** The commands that list the same as a table, one for each cluster and namespace; what kubectl cannot do stands above them. */
export function kubectlOfList({ resource, clusters, namespaces, filter, sort }: Listed): string {
  const notes: string[] = []
  const labels: string[] = []
  const fieldSelectors: string[] = []
  for (const { text, where } of filter) {
    const label = labelOf(where)
    const field = label === undefined ? fieldOf(where, resource) : undefined
    if (label !== undefined) labels.push(label)
    else if (field === undefined) notes.push(text)
    else fieldSelectors.push(field)
  }
  const order = sort === undefined ? undefined : orders[sort]
  if (sort !== undefined && order === undefined) notes.push(words.export.order(sort))
  const rest = [
    ...(labels.length === 0 ? [] : [`-l ${quoted(labels.join(','))}`]),
    ...(fieldSelectors.length === 0
      ? []
      : [`--field-selector ${quoted(fieldSelectors.join(','))}`]),
    ...(order === undefined ? [] : [`--sort-by ${quoted(order)}`]),
  ]
  const places =
    namespaces === null
      ? ['']
      : namespaces === undefined
        ? ['-A']
        : namespaces.map((namespace) => `-n ${quoted(namespace)}`)
  const commands = (clusters ?? [undefined]).flatMap((cluster) =>
    places.map((place) => commandOf(cluster, resource, [place, ...rest])),
  )
  // A line break would end the comment, and the rest would be a command.
  const said = notes.map(
    (note) => `# ${words.export.notInKubectl(note.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' '))}`,
  )
  return `${[...said, ...commands].join('\n')}\n`
}

/** An object that a command names. */
export interface NamedObject {
  readonly clusterName: string
  readonly namespace: string | null
  readonly name: string
}

/** The commands that list these objects, one for each cluster and namespace. `hasClusters`: whether the scope names clusters. */
export function kubectlOfObjects(
  resource: string,
  objects: readonly NamedObject[],
  hasClusters: boolean,
): string {
  const places = Map.groupBy(objects, ({ clusterName, namespace }) =>
    JSON.stringify([clusterName, namespace]),
  )
  const commands = Array.from(places.values(), (inPlace) => {
    const [{ clusterName, namespace } = { clusterName: '', namespace: null }] = inPlace
    return commandOf(hasClusters ? clusterName : undefined, resource, [
      ...(namespace === null ? [] : [`-n ${quoted(namespace)}`]),
      named(inPlace),
    ])
  })
  return `${commands.join('\n')}\n`
}

function commandOf(
  cluster: string | undefined,
  resource: string,
  parts: readonly string[],
): string {
  const context = cluster === undefined ? '' : ` --context ${quoted(cluster)}`
  return ['kubectl' + context, 'get', resource, ...parts].filter((part) => part !== '').join(' ')
}

/** A condition as a part of a label selector, if it is about one label. */
function labelOf({ labels, ...others }: Condition): string | undefined {
  if (!Array.isArray(labels) || labels.length !== 1 || Object.keys(others).length > 0) {
    return undefined
  }
  const { key, ...operator } = labels[0] as Condition & { readonly key: string }
  const { isNegated, of } = withoutNot(operator)
  if (of['exists'] !== undefined) return of['exists'] === isNegated ? `!${key}` : key
  if (Array.isArray(of['in'])) return `${key} ${isNegated ? 'notin' : 'in'} (${of['in'].join(',')})`
  return typeof of['eq'] === 'string' ? `${key}${isNegated ? '!=' : '='}${of['eq']}` : undefined
}

/** A condition as a part of a field selector, if it says the whole value of a field that has one. */
function fieldOf(where: Condition, resource: string): string | undefined {
  const [[index, operator] = [], ...others] = Object.entries(where)
  if (index === undefined || others.length > 0) return undefined
  const field = index === 'name' ? 'metadata.name' : fields[resource]?.[index]
  if (field === undefined || typeof operator !== 'object' || operator === null) return undefined
  const { isNegated, of } = withoutNot(operator as Condition)
  const { eq } = of
  return typeof eq === 'string' ? `${field}${isNegated ? '!=' : '='}${eq}` : undefined
}

function withoutNot(operator: Condition): { readonly isNegated: boolean; readonly of: Condition } {
  const { not } = operator
  return typeof not === 'object' && not !== null
    ? { isNegated: true, of: not as Condition }
    : { isNegated: false, of: operator }
}

/** The command that shows an object as YAML. */
export function kubectlOfObject(
  typeName: string,
  { namespace, name }: Omit<NamedObject, 'clusterName'>,
): string {
  const place = namespace === null ? '' : ` -n ${quoted(namespace)}`
  return `kubectl get ${typeName}${place} -o yaml ${named([{ name }])}`
}

/** Names as the last arguments. One that begins with `-` is no option after `--`. */
function named(objects: readonly Pick<NamedObject, 'name'>[]): string {
  const names = objects.map(({ name }) => quoted(name))
  return [...(objects.some(({ name }) => name.startsWith('-')) ? ['--'] : []), ...names].join(' ')
}

/** For a POSIX shell. Names of roles, for one, may have any characters but `/` and `%`. */
export function quoted(text: string): string {
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
