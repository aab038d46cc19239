import type { RelationDeclaration, TypeExtension, UsesDeclaration } from '../sdl/sdl-document.ts'
import { SdlError, unknownFieldHint } from '../sdl/sdl-error.ts'
import type { KindCatalog } from './kind-catalog.ts'

/** What objects of a type use: a `@reference`, `@named`, `@objectRef` or `@chooses` with `uses`, or an `@uses`. */
interface Use {
  readonly declaration: RelationDeclaration
  /** The type of the used objects; `undefined`: any kind that has `usedBy`. */
  readonly to: string | undefined
}

/**
 * Reads every `@uses` as references without a field. Also finds the users that the profile leaves out of the schema.
 */
export class SdlUses {
  /** The hidden references. */
  readonly extensions: readonly TypeExtension[]
  readonly problems: readonly SdlError[]
  readonly #byType: ReadonlyMap<string, readonly TypeExtension[]>
  readonly #leftOut = new Map<string | undefined, Set<string>>()

  /** `inferredOfLeftOut` are the inferred references of the kinds that the profile leaves out. */
  constructor(
    written: readonly TypeExtension[],
    catalog: KindCatalog,
    inferredOfLeftOut: readonly TypeExtension[],
  ) {
    this.#byType = Map.groupBy(written, ({ typeName }) => typeName)
    const problems: SdlError[] = []
    this.extensions = written.flatMap((extension) => {
      const { typeName, optional, uses = [] } = extension
      if (!catalog.has(typeName)) return []
      return uses.map((use): TypeExtension => {
        const problem = optional ? undefined : problemOf(use, typeName, catalog)
        if (problem !== undefined) problems.push(problem)
        const relations =
          problem === undefined
            ? this.#hidden(use, typeName, [typeName]).map(({ declaration }) => declaration)
            : []
        // Of another type's paths, those count that this one has.
        const isOptional = optional || Boolean(use.arguments.as)
        return { place: use.place, typeName, optional: isOptional, indexes: [], relations }
      })
    })
    this.problems = problems
    for (const [typeName] of this.#byType) {
      if (catalog.has(typeName) || !catalog.isLeftOut(typeName)) continue
      this.#leaveOut(typeName, this.#usesOf(typeName, [typeName]))
    }
    for (const { typeName, relations } of inferredOfLeftOut) {
      const inferred = relations.flatMap((declaration) => this.#useIn(declaration) ?? [])
      this.#leaveOut(typeName, inferred)
    }
  }

  #leaveOut(typeName: string, uses: readonly Use[]): void {
    for (const { to } of uses) {
      this.#leftOut.set(to, (this.#leftOut.get(to) ?? new Set()).add(typeName))
    }
  }

  /** The kinds that may use objects of a type, but that the profile leaves out of the schema. */
  leftOutUsers(typeName: string): readonly string[] {
    const users = [typeName, undefined].flatMap((to) => [...(this.#leftOut.get(to) ?? [])])
    return [...new Set(users)].toSorted()
  }

  #usesOf(typeName: string, open: readonly string[]): readonly Use[] {
    return (this.#byType.get(typeName) ?? []).flatMap(({ relations, uses = [] }) => [
      ...relations.flatMap((declaration) => this.#useIn(declaration) ?? []),
      ...uses.flatMap((use) => this.#hidden(use, typeName, open)),
    ])
  }

  /** A field as a use, with the arguments of the `@reference` that it takes its paths from. */
  #useIn(declaration: RelationDeclaration): Use | undefined {
    const { directive, arguments: args, type } = declaration
    const { as, at, uses } = args
    if (directive === 'objectRef' || directive === 'chooses')
      return uses ? { declaration, to: undefined } : undefined
    if (directive !== 'reference' && directive !== 'named') return undefined
    const to = type.replace(/Connection$/, '')
    if (typeof as !== 'string') return uses ? { declaration, to } : undefined
    const [otherType = '', field] = as.split('.')
    const other = (this.#byType.get(otherType) ?? [])
      .flatMap(({ relations }) => relations)
      .find(({ name }) => name === field)
    if (other === undefined || !(uses ?? other.arguments['uses'])) return undefined
    return { declaration: { ...declaration, arguments: moved(other.arguments, at) }, to }
  }

  /** The references of an `@uses`. A type that `as` leads back to is not read again. */
  #hidden(
    { place, arguments: args }: UsesDeclaration,
    typeName: string,
    open: readonly string[],
  ): readonly Use[] {
    const { kind, as, at, namespace, path, ...rest } = args
    if (as) {
      if (open.includes(as)) return []
      const taken = new Set(
        (this.#byType.get(typeName) ?? []).flatMap(({ relations }) =>
          relations.flatMap(({ arguments: own }) =>
            own['at'] === at && own['uses'] !== false ? [own['as']] : [],
          ),
        ),
      )
      return this.#usesOf(as, [...open, as]).flatMap(({ declaration, to }) => {
        const { name, type, directive } = declaration
        if (directive === 'named' || directive === 'chooses' || taken.has(`${as}.${name}`))
          return []
        const own = {
          place,
          name: `uses(${as}.${name} at ${at})`,
          type: to === undefined ? type : `${to}Connection`,
          isList: to === undefined,
          directive,
          arguments: moved(declaration.arguments, at),
          isHidden: true,
        } as const
        return [{ declaration: own, to }]
      })
    }
    if (!kind || !path) return []
    const names = path.map((one) => `{${one}}`)
    const where = namespace ? { path: [], names: { name: names, namespace } } : { path, ...rest }
    const declaration = {
      place,
      name: `uses(${kind} at ${path.join()})`,
      type: `${kind}Connection`,
      isList: false,
      directive: 'reference',
      arguments: { ...where, uses: true },
      isHidden: true,
    } as const
    return [{ declaration, to: kind }]
  }
}

const pathArguments = ['path', 'namespacePath', 'kindPath', 'groupPath']

/** The arguments of a `@reference` or `@objectRef`, with its paths below another one. Composed names are left behind. */
function moved(args: RelationDeclaration['arguments'], at: unknown): Record<string, unknown> {
  const below = (name: string, value: unknown): unknown =>
    pathArguments.includes(name) && Array.isArray(value) && typeof at === 'string'
      ? value.map((path) => `${at}.${path}`)
      : value
  const entries = Object.entries(args).filter(([name]) => name !== 'names')
  return {
    ...Object.fromEntries(entries.map(([name, value]) => [name, below(name, value)])),
    uses: true,
  }
}

function problemOf(
  { place, arguments: { kind, path, as, at } }: UsesDeclaration,
  typeName: string,
  catalog: KindCatalog,
): SdlError | undefined {
  const isOther = Boolean(as) && Boolean(at) && !kind && !path
  const isOwn = Boolean(kind) && Boolean(path) && !as && !at
  if (!isOther && !isOwn) {
    const message = `@uses of ${typeName} needs kind and path, or as and at`
    return new SdlError(
      'unsupported',
      place,
      message,
      'write @uses(kind: "Secret", path: "spec.x")',
    )
  }
  if (as && !catalog.has(as) && !catalog.isLeftOut(as)) {
    return catalog.unknown.problem(as, place, `@uses of ${typeName}: there is no type ${as}`)
  }
  if (at && catalog.at(typeName, at).form === 'absent') {
    const message = `@uses of ${typeName}: it has nothing at ${at}`
    return new SdlError('unknown-field', place, message, unknownFieldHint)
  }
  return undefined
}
