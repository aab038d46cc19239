import {
  byKey,
  type Declared,
  type Json,
  type Plain,
  type PlainWorld,
  valuesAt,
} from './plain-world.ts'

/** A relation that the oracle cannot follow. Tests leave its field out. */
export class NotFollowedError extends Error {}

/**
 * Follows the relations that `schema/*.graphql` declares, by looking at every object: forwards by what an object says,
 * and backwards by following each object of the other kind forwards. Nothing here is fast, and nothing is shared with
 * the gateway but the SDL.
 */
export class PlainRelations {
  readonly #world: PlainWorld
  readonly #used = new Map<Plain, ReadonlySet<Plain>>()

  constructor(world: PlainWorld) {
    this.#world = world
  }

  /** The declared relation of a type, of its own or of every kind. `undefined` if the field is none. */
  declaration(
    type: string,
    field: string,
  ): { readonly type: string; readonly directives: readonly Declared[] } | undefined {
    const { declared } = this.#world
    return (
      declared.get(type)?.fields.get(field) ??
      declared.get('KubernetesObject')?.fields.get(field) ??
      this.#ofDefinitions(type, field)
    )
  }

  /** What no SDL declares: the definition of a custom kind, and the instances of a definition. */
  #ofDefinitions(
    type: string,
    field: string,
  ): { readonly type: string; readonly directives: readonly Declared[] } | undefined {
    if (field === 'instances' && type === definitionType) {
      const directives = [{ name: 'instances', args: {} }]
      return { type: 'KubernetesObjectConnection', directives }
    }
    const kind = field === 'definition' ? this.#world.kind(type) : undefined
    const name = kind && `${kind.resource}.${kind.group}`
    if (name === undefined || this.#world.named(definitionType, undefined, name) === undefined)
      return undefined
    return { type: definitionType, directives: [{ name: 'named', args: { name } }] }
  }

  /** Whether the oracle can follow a relation. */
  follows(type: string, field: string): boolean {
    try {
      const [some] = this.#world.of(type)
      if (some !== undefined) this.related(some, field)
      return this.declaration(type, field) !== undefined
    } catch (error) {
      if (error instanceof NotFollowedError) return false
      throw error
    }
  }

  /** The related objects, each once, in the order of namespace and name. */
  related(from: Plain, field: string): readonly Plain[] {
    const found = new Set<Plain>()
    const declaration = this.declaration(from.kind.type, field)
    if (declaration === undefined) throw new NotFollowedError(`${from.kind.type}.${field}`)
    const to = declaration.type.replace(/Connection$/, '')
    const { directives } = declaration
    for (const directive of directives) {
      for (const one of this.#followed(from, to, directive, field)) found.add(one)
    }
    return [...found].toSorted(byKey)
  }

  /** The references that an `@objectRef` reads, which may lead nowhere. */
  references(from: Plain, field: string): readonly Json[] {
    const { name, args } = this.declaration(from.kind.type, field)?.directives[0] ?? {
      name: '',
      args: {},
    }
    if (name !== 'objectRef') throw new NotFollowedError(`${field}: @${name}`)
    if (args.kindAt) {
      const kind = this.#kindAt(from, args.kindAt)
      const [ref] = valuesAt(args.path, from.object)
      return kind === undefined || !ref?.name ? [] : [{ ...kind, ...ref }]
    }
    if (args.topmost) {
      const builtIn = this.ownerChain(from).map(({ ref }) => ref)
      const end = builtIn.findIndex((ref) => !isBuiltIn(groupOfReference(ref)))
      return builtIn.slice(0, end < 0 ? undefined : end).slice(-1)
    }
    return listed(args.path)
      .flatMap((path) => valuesAt(path, from.object))
      .filter(({ kind, name: own }) => Boolean(kind) && Boolean(own))
  }

  /** The kind that another object names: `policy.spec.paramKind`. */
  #kindAt(from: Plain, kindAt: string): Json {
    const [, field = '', path = ''] = /^([^.]+)\.(.+)$/.exec(kindAt) ?? []
    const [other] = this.related(from, field)
    return other && valuesAt(path, other.object)[0]
  }

  /** The owners of the owners, each with the object that names it: the controller, or the first owner. */
  ownerChain(start: Plain): readonly { readonly from: Plain; readonly ref: Json }[] {
    const chain: { readonly from: Plain; readonly ref: Json }[] = []
    for (let from: Plain | undefined = start; from !== undefined && chain.length < 16;) {
      const owners: readonly Json[] = from.object.metadata.ownerReferences ?? []
      const ref: Json = owners.find(({ controller }) => controller) ?? owners[0]
      if (ref === undefined) break
      chain.push({ from, ref })
      from = this.#world.withUid(ref.uid)
    }
    return chain
  }

  /** The Events about an object. */
  events({ object: { metadata, kind } }: Plain, related: boolean): readonly Plain[] {
    const isAbout = (ref: Json): boolean =>
      ref !== undefined &&
      ref !== null &&
      (ref.uid === metadata.uid ||
        (kind === 'Node' && ref.kind === 'Node' && ref.uid === metadata.name))
    return this.#world
      .of('Event')
      .filter(
        ({ object }) => isAbout(object.involvedObject) || (related && isAbout(object.related)),
      )
  }

  /** The owners that an object names and that exist. */
  owners({ object }: Plain): readonly Plain[] {
    const { ownerReferences = [] } = object.metadata
    return (ownerReferences as readonly Json[]).flatMap(({ uid, kind }) => {
      const owner = this.#world.withUid(uid)
      return owner === undefined || owner.kind.kind !== kind ? [] : [owner]
    })
  }

  /** The objects that name this one as an owner. */
  owned({ object }: Plain): readonly Plain[] {
    const { uid } = object.metadata
    return this.#world
      .all()
      .filter(({ object: { metadata } }) =>
        (metadata.ownerReferences ?? []).some((owner: Json) => owner.uid === uid),
      )
  }

  /** The objects that use this one and have not ended, whatever field or `@uses` says so. */
  usersOf(used: Plain): readonly Plain[] {
    const world = this.#world
    return world.all().filter((user) => !this.#hasEnded(user) && this.#usedBy(user).has(used))
  }

  #hasEnded({ kind, object }: Plain): boolean {
    const ended = this.#world.declared
      .get(kind.type)
      ?.directives.find(({ name }) => name === 'ended')
    if (ended === undefined) return false
    const states = listed(ended.args.path)
      .flatMap((path) => valuesAt(path, object))
      .map(String)
    return states.some((state) => listed(ended.args.in).includes(state))
  }

  #usedBy(user: Plain): ReadonlySet<Plain> {
    let used = this.#used.get(user)
    if (used === undefined) {
      used = new Set(
        this.#usesIn(user.kind.type).flatMap(({ to, field, args }) => {
          if (field === undefined) return this.#referenced(user, to, args)
          const { type, directives = [] } = this.declaration(user.kind.type, field) ?? {}
          const isMeant = ({ kind }: Plain): boolean =>
            directives.every((one) => isAmong(one.args.among, kind))
          if (to !== '*' && this.#world.of(to).length === 0) return []
          if (type !== 'ObjectRef') return this.related(user, field).filter(isMeant)
          return this.#world.all().filter((one) => isMeant(one) && this.#leadsTo(user, field, one))
        }),
      )
      this.#used.set(user, used)
    }
    return used
  }

  /** What objects of a type use: fields, and the arguments of references without a field. */
  #usesIn(
    type: string,
  ): readonly { readonly to: string; readonly field?: string; readonly args?: Json }[] {
    const declared = this.#world.declared.get(type)
    const definition = this.#ofDefinitions(type, 'definition')
    const fields = [
      ...(declared?.fields ?? []),
      ...(definition === undefined ? [] : [['definition', definition] as const]),
    ].flatMap(([field, { type: to, directives }]) =>
      directives.some(({ name, args }) =>
        isUse(name, name === 'reference' ? this.#referenceArguments(args) : args),
      )
        ? [{ to: ofAnyKind.has(to) ? '*' : to.replace(/Connection$/, ''), field }]
        : [],
    )
    const named = (declared?.directives ?? [])
      .filter(({ name }) => name === 'uses')
      .flatMap(({ args }) => {
        if (args.as === undefined) return [{ to: String(args.kind), args }]
        return this.#usesIn(args.as).flatMap(({ to, field, args: own }) => {
          const of =
            field === undefined
              ? own
              : this.declaration(args.as, field)?.directives.find(
                  ({ name }) => name === 'reference',
                )?.args
          return of === undefined
            ? []
            : [{ to, args: moved(this.#referenceArguments(of), args.at) }]
        })
      })
    return [...fields, ...named]
  }

  #followed(from: Plain, to: string, { name, args }: Declared, field: string): readonly Plain[] {
    const world = this.#world
    switch (name) {
      case 'reference':
        return this.#referenced(from, to, this.#referenceArguments(args))
      case 'named':
        return world.of(to).filter((one) => this.#isNamed(from, one, args))
      case 'uid': {
        const uids = listed(args.path).flatMap((path) => valuesAt(path, from.object))
        return world.of(to).filter(({ object }) => uids.includes(object.metadata.uid))
      }
      case 'owned': {
        const through = listed(args.through)
        let owners: readonly Plain[] = [from]
        for (const type of [...through, to]) {
          owners = world
            .of(type)
            .filter(({ object: { metadata } }) =>
              (metadata.ownerReferences ?? []).some(({ uid }: Json) =>
                owners.some(({ object }) => object.metadata.uid === uid),
              ),
            )
        }
        return owners
      }
      case 'owner': {
        let owned: readonly Plain[] = [from]
        for (const type of [...listed(args.through), to]) {
          owned = owned.flatMap((one) => this.owners(one)).filter(({ kind }) => kind.type === type)
        }
        return owned
      }
      case 'selects':
        return this.#selected(from, to, args)
      case 'reverse': {
        const [type = '', other = ''] = String(args.of).split('.')
        if (type === 'KubernetesObject')
          throw new NotFollowedError(`${field}: reverse of every kind`)
        return world.of(type).filter((one) => this.#leadsTo(one, other, from))
      }
      case 'same': {
        const texts = this.#texts(args.text, from)
        return world
          .of(to)
          .filter((one) => this.#texts(args.as, one).some((text) => texts.includes(text)))
      }
      case 'instances':
        return world
          .all()
          .filter(({ kind }) => `${kind.resource}.${kind.group}` === from.object.metadata.name)
      case 'sameLabel': {
        const { namespace, labels } = from.object.metadata
        const value = labels?.[args.key]
        return world
          .all()
          .filter(
            ({ kind, object: { metadata } }) =>
              value !== undefined &&
              value === metadata.labels?.[args.key] &&
              (!kind.namespaced || metadata.namespace === namespace),
          )
      }
      case 'chooses': {
        const [ref] = valuesAt(args.path, from.object)
        const named = this.#kindAt(from, args.kindAt)
        const kind = named && world.kindOf(groupOfReference(named), named.kind)
        if (!ref || kind === undefined) return []
        return world
          .of(kind.type)
          .filter(
            ({ object: { metadata } }) =>
              (!ref.namespace || metadata.namespace === ref.namespace) &&
              (ref.name
                ? metadata.name === ref.name
                : ref.selector && matchesSelector(ref.selector, metadata.labels ?? {})),
          )
      }
      case 'chosenBy':
        return listed(args.of).flatMap((place) => {
          const [type = '', other = ''] = place.split('.')
          return world.of(type).filter((one) => this.related(one, other).includes(from))
        })
      case 'through': {
        let found: readonly Plain[] = [from]
        for (const step of String(args.path).split('.')) {
          found = [
            ...new Set(
              found.flatMap((one) =>
                step === 'events' ? this.events(one, false) : this.related(one, step),
              ),
            ),
          ]
        }
        return found
      }
      default:
        throw new NotFollowedError(`${field}: @${name}`)
    }
  }

  #leadsTo(from: Plain, field: string, to: Plain): boolean {
    const declaration = this.declaration(from.kind.type, field)
    const ofAny = declaration?.directives.find(({ name }) => name === 'objectRef')
    if (ofAny === undefined) return this.related(from, field).includes(to)
    if (ofAny.args.topmost) throw new NotFollowedError(`${field}: topmost`)
    return this.references(from, field).some((ref) => {
      const { kind, object } = to
      if (ref.kind !== kind.kind || groupOfReference(ref) !== kind.group) return false
      const namespace = kind.namespaced
        ? (ref.namespace ?? from.object.metadata.namespace)
        : undefined
      return ref.name === object.metadata.name && namespace === object.metadata.namespace
    })
  }

  /** With `as`, the paths of another reference. */
  #referenceArguments(args: Json): Json {
    if (args.as === undefined) return args
    const [type = '', field = ''] = String(args.as).split('.')
    const other = this.declaration(type, field)?.directives.find(({ name }) => name === 'reference')
    if (other === undefined) throw new NotFollowedError(`as ${args.as}`)
    return {
      ...moved(other.args, args.at),
      ...(args.uses === undefined ? {} : { uses: args.uses }),
    }
  }

  #referenced(from: Plain, to: string, args: Json): readonly Plain[] {
    if (args.otherwise || args.category) throw new NotFollowedError('otherwise, category')
    const kind = this.#world.kind(to)
    if (kind === undefined) return []
    return listed(args.path).flatMap((path, at) => {
      const beside = [args.namespacePath, args.kindPath, args.groupPath].map(
        (paths) => listed(paths)[at],
      )
      // What stands beside a name has the same beginning up to the last list.
      const [list] = [...path.matchAll(/\[\*\]|\[[^\]="]+(?:="(?:[^"\\]|\\.)*")?\]/g)].slice(-1)
      const head = list === undefined ? '' : path.slice(0, list.index + list[0].length)
      const items = head === '' ? [from.object] : valuesAt(head, from.object)
      const below = (text: string | undefined, item: Json): Json => {
        if (text === undefined) return undefined
        const rest = text.slice(head.length).replace(/^\./, '')
        return rest === '' ? item : valuesAt(rest, item)[0]
      }
      return items.flatMap((item) => {
        const name = below(path, item)
        if (typeof name !== 'string' || name === '') return []
        if (beside[1] !== undefined) {
          const named = below(beside[1], item)
          const group = below(beside[2], item)
          if (named === undefined ? args.defaultKind !== true : named !== kind.kind) return []
          if (
            typeof group === 'string' &&
            group !== '' &&
            groupOf(group) !== kind.group &&
            group !== kind.group
          )
            return []
        }
        const meant = patterned(args.pattern, name)
        if (meant === undefined) return []
        const otherwise =
          args.namespace ??
          (args.namespaceOtherwise && valuesAt(args.namespaceOtherwise, from.object)[0])
        const namespace =
          meant.namespace ?? (below(beside[0], item) || otherwise || from.object.metadata.namespace)
        return this.#world.named(to, namespace, meant.name) ?? []
      })
    })
  }

  #isNamed(from: Plain, { kind, object }: Plain, args: Json): boolean {
    const said =
      args.namespace ?? (args.namespacePath && valuesAt(args.namespacePath, from.object)[0])
    if (args.namespacePath !== undefined && said === undefined) return false
    const namespace = said ?? from.object.metadata.namespace
    if (kind.namespaced && object.metadata.namespace !== namespace) return false
    return this.#texts(args.name ?? '{metadata.name}', from).some((name) =>
      name.endsWith('#')
        ? object.metadata.name.startsWith(name.slice(0, -1)) &&
          /^\d+$/.test(object.metadata.name.slice(name.length - 1))
        : object.metadata.name === name,
    )
  }

  /** What templates make of an object: text, and the values at paths in braces. */
  #texts(templates: Json, { object }: Plain): readonly string[] {
    return listed(templates).flatMap((template) => {
      let texts = ['']
      for (const [text, path] of template.matchAll(/\{([^{}]*)\}|[^{}#]+|#/g)) {
        if (path?.includes('|')) throw new NotFollowedError(template)
        const parts = path === undefined ? [text] : valuesAt(path, object).map(String)
        texts = texts.flatMap((before) => parts.map((part) => before + part))
      }
      return texts
    })
  }

  #selected(from: Plain, to: string, given: Json): readonly Plain[] {
    let args = given
    if (given.as !== undefined) {
      const [type = '', field = ''] = String(given.as).split('.')
      const other = this.declaration(type, field)?.directives.find(({ name }) => name === 'selects')
      args = { ...other?.args, ...given }
    }
    if (args.namespaceLabels || args.addedLabel)
      throw new NotFollowedError('namespaceLabels, addedLabel')
    const selectors = valuesAt(args.path, from.object)
    const { namespace } = from.object.metadata
    return this.#world.of(to).filter(({ object }) => {
      if (args.namespaceSelector === undefined) {
        if (object.metadata.namespace !== namespace) return false
      } else {
        const { any, matchNames } = valuesAt(args.namespaceSelector, from.object)[0] ?? {}
        const isIn =
          any === true ||
          (matchNames?.length > 0 ? matchNames : [namespace]).includes(object.metadata.namespace)
        if (!isIn) return false
      }
      const template = args.at === undefined ? object : valuesAt(args.at, object)[0]
      const labels: Record<string, string> = { ...template?.metadata?.labels }
      if (selectors.length === 0) return args.whenAbsent === 'EVERYTHING'
      return selectors.some((selector) => {
        if (args.selector !== 'LABEL_SELECTOR') {
          const entries = Object.entries(selector as Record<string, string>)
          return (
            entries.length > 0 &&
            entries.every(([key, value]) =>
              args.numberedLabel === key
                ? value.startsWith(`${object.metadata.name}-`) &&
                  /^\d+$/.test(value.slice(object.metadata.name.length + 1))
                : labels[key] === value,
            )
          )
        }
        const numbered = args.numberedLabel
        if (numbered !== undefined && JSON.stringify(selector).includes(numbered))
          throw new NotFollowedError(numbered)
        return matchesSelector(selector, labels)
      })
    })
  }
}

const definitionType = 'CustomResourceDefinition'

/** The types of fields that lead to objects of any kind. */
const ofAnyKind: ReadonlySet<string> = new Set(['', 'ObjectRef', 'KubernetesObjectConnection'])

/** The name in a text, and its namespace where the text has one. */
function patterned(
  pattern: string | undefined,
  text: string,
): { name: string; namespace?: string } | undefined {
  if (pattern === undefined) return { name: text }
  const form = pattern
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\{(name|namespace)\}/g, '(?<$1>[^:/]+)')
  const { name, namespace } = new RegExp(`^${form}$`).exec(text)?.groups ?? {}
  return name === undefined
    ? undefined
    : { name, ...(namespace === undefined ? {} : { namespace }) }
}

/** The arguments of a reference, with `at` before its paths. */
/** Whether a field says that its object uses those that it leads to. */
function isUse(directive: string, args: Json): boolean {
  if (!['reference', 'named', 'selects', 'objectRef', 'chooses'].includes(directive)) return false
  return args.uses !== false && !args.topmost && !(directive === 'objectRef' && args.kindAt)
}

const scaled = ['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController']

function isAmong(among: Json, { type, group }: Plain['kind']): boolean {
  if (!among) return true
  return listed(among).some(
    (one) =>
      one === type ||
      (one === 'scalable' && scaled.includes(type)) ||
      (one === 'custom' && group.includes('.') && !group.endsWith('.k8s.io')),
  )
}

function moved(
  { path, namespacePath, kindPath, groupPath, ...rest }: Json,
  at: string | undefined,
): Json {
  const below = (paths: Json): Json =>
    paths && listed(paths).map((one) => (at === undefined ? one : `${at}.${one}`))
  return {
    ...rest,
    path: below(path),
    namespacePath: below(namespacePath),
    kindPath: below(kindPath),
    groupPath: below(groupPath),
  }
}

function matchesSelector(
  { matchLabels = {}, matchExpressions = [] }: Json,
  labels: Record<string, string>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    (matchExpressions as readonly Json[]).every(({ key, operator, values = [] }) => {
      const value = labels[key]
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value)
        case 'NotIn':
          return value === undefined || !values.includes(value)
        case 'Exists':
          return value !== undefined
        default:
          return value === undefined
      }
    })
  )
}

/** Whether labels match a selector in the syntax of kubectl. */
export function matchesText(selector: string, labels: Record<string, string> = {}): boolean {
  const parts = selector.match(/[^,(]+(?:\([^)]*\))?/g) ?? []
  return parts.every((text) => {
    const set = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(text)
    if (set !== null) {
      const [, key = '', operator, list = ''] = set
      const isIn = list
        .split(',')
        .map((one) => one.trim())
        .includes(labels[key] ?? '\0')
      return operator === 'in' ? isIn : !isIn
    }
    const [, key = '', operator, value] = /^\s*([^\s!=]+)\s*(!=|==?)\s*(\S*)\s*$/.exec(text) ?? []
    if (operator !== undefined) return (labels[key] === value) === (operator !== '!=')
    const name = text.trim()
    return name.startsWith('!')
      ? labels[name.slice(1).trim()] === undefined
      : labels[name] !== undefined
  })
}

export function listed(value: Json): readonly string[] {
  return value === undefined || value === null ? [] : [value].flat()
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/')
    ? (apiVersion.split('/')[0] ?? '')
    : apiVersion === 'v1'
      ? ''
      : apiVersion
}

/** The API group that a reference names: that of its `apiVersion`, or its own. */
export function groupOfReference({ apiVersion, apiGroup, group }: Json): string {
  return apiVersion === undefined ? (apiGroup ?? group ?? '') : groupOf(apiVersion)
}

function isBuiltIn(group: string): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io')
}
