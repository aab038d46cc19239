import {
  isReversible,
  type ReferenceOfAnyKind,
  type RelationDefinition,
  relationName,
} from '../../query/relation/relation-definition.ts'
import type { RelationDirectiveArguments } from '../sdl/sdl-directives.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import {
  pathProblem,
  SdlError,
  type SdlPlace,
  type SdlProblem,
  unknownFieldHint,
} from '../sdl/sdl-error.ts'
import {
  namedOf,
  type OwnRelationContext,
  referenceOf,
  sameOf,
  selectsOf,
  uidOf,
} from './declared-relation.ts'
import { everyKindType, type RelationField } from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'

/** The relations beside the declared ones. */
export interface RelationSources {
  /** Relations that need no declaration. `@reverse` may name them. */
  readonly given: readonly RelationField[]
  /** All declarations, also of types that are not served: `as` may name them. */
  readonly written: readonly TypeExtension[]
  /** The relation of each kind to its Events. `@through` may name them. */
  readonly events: readonly RelationField[]
}

/** Whether a declaration leads to objects of several kinds. */
export function isPolymorphic({ type }: RelationDeclaration): boolean {
  return type === `${everyKindType}Connection`
}

interface Declared {
  readonly relation: RelationField
  readonly place: SdlPlace | undefined
}

interface Written {
  readonly extension: TypeExtension
  readonly declaration: RelationDeclaration
}

interface Target {
  readonly to: string
  readonly many: boolean
  readonly isList?: boolean
}

class PassedOver extends Error {}

/** Thrown for a declaration that names a type which is not served. There may be hundreds, so all share one error. */
const passedOver = new PassedOver()

const connection = /^(.+)Connection$/

/** Collects the declared relations of all kinds. */
export class SdlRelations {
  readonly #catalog: KindCatalog
  readonly #declared = new Map<string, Declared>()
  readonly #references = new Map<string, RelationDirectiveArguments['reference']>()
  readonly #ofAnyKind = new Map<string, ReferenceOfAnyKind>()
  /** The declared relations by type, cached until the next one is added. */
  #byType: ReadonlyMap<string, readonly RelationField[]> | undefined
  readonly #events: ReadonlyMap<string, RelationField>

  constructor(catalog: KindCatalog, { given, written, events }: RelationSources) {
    this.#catalog = catalog
    for (const relation of given)
      this.#declared.set(relationName(relation.definition), { relation, place: undefined })
    for (const { typeName, relations } of written) {
      for (const { name, form } of relations) {
        if (form.directive === 'reference')
          this.#references.set(`${typeName}.${name}`, form.arguments)
      }
    }
    this.#events = new Map(events.map((one) => [relationName(one.definition), one]))
  }

  /** The relations of one kind, in the order of their declaration. */
  of(typeName: string): readonly RelationField[] {
    this.#byType ??= Map.groupBy(
      [...this.#declared.values()].map(({ relation }) => relation),
      ({ definition }) => definition.from,
    )
    return this.#byType.get(typeName) ?? []
  }

  /** One relation of a kind. */
  find(typeName: string, field: string): RelationField | undefined {
    return this.#declared.get(`${typeName}.${field}`)?.relation
  }

  /** The references to objects of any kind that `@reverse` may name. */
  get ofAnyKind(): readonly ReferenceOfAnyKind[] {
    return [...this.#ofAnyKind.values()]
  }

  /** Adds all relations, those that build on others last. Returns their problems; yields between relations. */
  *addAll(extensions: readonly TypeExtension[]): Generator<void, readonly SdlError[]> {
    const own: Written[] = []
    const reverse: Written[] = []
    const through: Written[] = []
    for (const extension of extensions) {
      for (const declaration of extension.relations) {
        const { form, name } = declaration
        if (isPolymorphic(declaration)) continue
        const written = { extension, declaration }
        const fullName = `${extension.typeName}.${name}`
        if (form.directive === 'objectRef') {
          const { path, topmost, kindAt } = form.arguments
          // No index holds such a reference: another object decides which object is meant.
          if (topmost || kindAt || path.some((one) => pathProblem(one, declaration.place, name)))
            continue
          this.#ofAnyKind.set(fullName, { from: extension.typeName, name, paths: path })
          continue
        }
        if (form.directive === 'reverse') reverse.push(written)
        else if (form.directive === 'through') through.push(written)
        else own.push(written)
      }
    }
    const nextOf = (name: string): string | undefined =>
      this.#declared.get(name)?.relation.definition.to
    const problems: SdlError[] = []
    for (const one of [...own, ...reverse]) {
      const problem = this.#add(one)
      if (problem !== undefined) problems.push(problem)
      yield
    }
    const { ordered, circles } = inOrderOfSteps(through, nextOf)
    for (const one of ordered) {
      const circle = circles.get(one)
      const problem = circle === undefined ? this.#add(one) : circleOf(one, circle)
      if (problem !== undefined) problems.push(problem)
    }
    return problems
  }

  #add({ extension, declaration }: Written): SdlError | undefined {
    try {
      const relation = this.#relation(extension, declaration)
      this.#byType = undefined
      this.#declared.set(relationName(relation.definition), {
        relation,
        place: declaration.place,
      })
      return undefined
    } catch (error) {
      if (error instanceof SdlError) return error
      if (error === passedOver) return undefined
      throw error
    }
  }

  #relation(
    { typeName, optional }: TypeExtension,
    declaration: RelationDeclaration,
  ): RelationField {
    const { name, type, place } = declaration
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, `${typeName}.${name}: ${message}`, hint)
    const earlier = this.#declared.get(`${typeName}.${name}`)?.place
    if (earlier !== undefined) {
      const message = `is declared already at ${earlier.file}:${earlier.line}`
      throw fail('duplicate-relation', message, 'choose another name')
    }
    if (this.#catalog.hasField(typeName, name)) {
      const message = 'the API has a field of this name, which wins'
      throw fail('native-field', message, 'choose another name')
    }
    const target = this.#target(declaration)
    if (target === undefined) {
      const node = connection.exec(type)?.[1] ?? type
      if (optional || this.#catalog.isLeftOut(node)) throw passedOver
      const message = `${typeName}.${name}: there is no type ${type}`
      throw this.#catalog.unknown.problem(node, place, message) ?? passedOver
    }
    const definition = this.#definition(typeName, target, declaration, optional)
    return {
      definition,
      many: target.many,
      ...(declaration.description === undefined ? {} : { description: declaration.description }),
    }
  }

  #target({ type, isList }: RelationDeclaration): Target | undefined {
    const node = connection.exec(type)?.[1]
    if (node !== undefined && !isList && this.#catalog.has(node)) return { to: node, many: true }
    if (!this.#catalog.has(type)) return undefined
    return { to: type, many: false, isList }
  }

  #definition(
    from: string,
    { to, many, isList }: Target,
    declaration: RelationDeclaration,
    optional: boolean,
  ): RelationDefinition {
    const { name, place, form } = declaration
    const base = { name, from, to }
    const needConnection = (): void => {
      if (many && isList !== true) return
      const message = `${from}.${name}: @${form.directive} leads to any number of objects`
      throw new SdlError('field-type', place, message, `write its type as ${to}Connection`)
    }
    const checkTypes = (types: readonly string[]): void => {
      const unknown = types.find((type) => !this.#catalog.has(type))
      if (unknown === undefined) return
      if (optional || this.#catalog.isLeftOut(unknown)) throw passedOver
      const message = `${from}.${name}: there is no type ${unknown}`
      throw this.#catalog.unknown.problem(unknown, place, message) ?? passedOver
    }
    const own: OwnRelationContext = {
      ends: { ...base, many },
      declaration,
      needConnection,
      present: (paths) => this.#presentPaths(from, paths, declaration, optional),
      presentOfTarget: (paths) => this.#presentPaths(to, paths, declaration, optional),
      referenceNamed: (full) => this.#references.get(full),
    }
    if (isList === true) needConnection()
    switch (form.directive) {
      case 'reference':
        return referenceOf(form.arguments, own)
      case 'named':
        return namedOf(form.arguments, own)
      case 'uid':
        return uidOf(form.arguments, own)
      case 'same':
        return sameOf(form.arguments, own)
      case 'chooses':
      case 'chosenBy':
      case 'sameLabel': {
        const message = `${from}.${name}: @${form.directive} leads to objects of any kind`
        const hint = 'write its type as KubernetesObjectConnection'
        throw new SdlError('field-type', place, message, hint)
      }
      case 'reverse': {
        if (form.arguments.one !== true) needConnection()
        this.#checkReversed(form.arguments.of, { from, to }, declaration, optional)
        return { form: 'reverse', ...base, of: form.arguments.of }
      }
      case 'selects':
        if (form.arguments.namespaceLabels) checkTypes(['Namespace'])
        return selectsOf(form.arguments, own)
      case 'through': {
        const found = stepsOf({ from, to }, form.arguments.path, declaration, (full) => {
          const step = this.#declared.get(full)?.relation ?? this.#events.get(full)
          return step === undefined ? undefined : { to: step.definition.to, many: step.many }
        })
        // A step may have been passed over, as a type of it is not served.
        if (found instanceof SdlError) {
          if (optional && found.problem === 'unknown-relation') throw passedOver
          throw found
        }
        if (found.many) needConnection()
        return { form: 'through', ...base, steps: found.steps }
      }
      case 'objectRef':
        throw new TypeError(`${from}.${name} is no relation`)
      case 'owned':
      case 'owner': {
        if (form.directive === 'owned') needConnection()
        const { through } = form.arguments
        checkTypes(through ?? [])
        return { form: form.directive, ...base, ...(through ? { through } : {}) }
      }
    }
  }

  #presentPaths(
    typeName: string,
    paths: readonly string[],
    { name, place }: RelationDeclaration,
    optional: boolean,
  ): ReadonlySet<string> {
    const isPresent = (path: string): boolean => this.#catalog.at(typeName, path).form !== 'absent'
    const present = new Set(paths.filter(isPresent))
    if (present.size === new Set(paths).size) return present
    if (optional) {
      if (present.size === 0) throw passedOver
      return present
    }
    const missing = paths.find((path) => !present.has(path)) ?? ''
    const message = `${typeName}.${name}: a ${typeName} has nothing at ${missing}`
    throw new SdlError('unknown-field', place, message, unknownFieldHint)
  }

  #checkReversed(
    of: string,
    { from, to }: { readonly from: string; readonly to: string },
    { name, place }: RelationDeclaration,
    optional: boolean,
  ): void {
    if (this.#ofAnyKind.get(of)?.from === to) return
    const reversed = this.#declared.get(of)?.relation.definition
    const fits = reversed !== undefined && isReversible(reversed)
    if (fits && reversed.from === to && reversed.to === from) return
    // The relation may have been passed over, as its type is not served.
    if (optional && reversed === undefined) throw passedOver
    const message = `${from}.${name}: ${of} is no @reference, @named, @uid, @same or @selects from ${to} to ${from}, and no @objectRef of ${to}`
    throw new SdlError('unknown-relation', place, message, `declare ${of} or correct the name`)
  }
}

function circleOf({ extension, declaration: { name, place } }: Written, circle: string): SdlError {
  const message = `${extension.typeName}.${name} goes in a circle: ${circle}`
  return new SdlError('circle', place, message, 'let one of them go another way')
}

const maxSteps = 6

/** The full names of the relations of a `@through`, and whether one of them leads to many. */
function stepsOf(
  { from, to }: { readonly from: string; readonly to: string },
  path: string,
  { name, place }: RelationDeclaration,
  stepNamed: (fullName: string) => Target | undefined,
): { readonly steps: readonly string[]; readonly many: boolean } | SdlError {
  const fields = path.split('.')
  if (fields.length < 2 || fields.length > maxSteps) {
    const message = `${from}.${name}: path ${JSON.stringify(path)} has ${fields.length} steps`
    return new SdlError('bad-path', place, message, `give it 2 to ${maxSteps}: pods.node`)
  }
  const steps: string[] = []
  let many = false
  let type = from
  for (const field of fields) {
    const full = `${type}.${field}`
    const step = stepNamed(full)
    if (step === undefined) {
      const message = `${from}.${name}: there is no relation ${full} to go through`
      return new SdlError('unknown-relation', place, message, `declare ${full} or correct the path`)
    }
    steps.push(full)
    many ||= step.many
    type = step.to
  }
  if (type === to) return { steps, many }
  const message = `${from}.${name}: ${path} leads to ${type}, not to ${to}`
  const hint = `write its type as ${many ? `${type}Connection` : type}`
  return new SdlError('field-type', place, message, hint)
}

/** Orders `@through` relations so that each follows its steps. `circles` has the circle of each relation that is in one. */
function inOrderOfSteps(
  written: readonly Written[],
  targetOf: (fullName: string) => string | undefined,
): {
  readonly ordered: readonly Written[]
  readonly circles: ReadonlyMap<Written, string>
} {
  const nameOf = ({ extension, declaration }: Written): string =>
    `${extension.typeName}.${declaration.name}`
  const byName = new Map(written.map((one) => [nameOf(one), one]))
  const ordered = new Set<Written>()
  const circles = new Map<Written, string>()
  const stepsAt = (one: Written): readonly Written[] => {
    const { form } = one.declaration
    let type: string | undefined = one.extension.typeName
    const found: Written[] = []
    for (const field of form.directive === 'through' ? form.arguments.path.split('.') : []) {
      if (type === undefined) break
      const step = byName.get(`${type}.${field}`)
      if (step !== undefined) found.push(step)
      type = step?.declaration.type.replace(/Connection$/, '') ?? targetOf(`${type}.${field}`)
    }
    return found
  }
  const visit = (one: Written, on: readonly Written[]): void => {
    if (ordered.has(one)) return
    const from = on.indexOf(one)
    if (from >= 0) {
      const circle = [...on.slice(from), one].map(nameOf).join(' → ')
      for (const member of on.slice(from)) circles.set(member, circle)
      return
    }
    for (const step of stepsAt(one)) visit(step, [...on, one])
    ordered.add(one)
  }
  for (const one of written) visit(one, [])
  return { ordered: [...ordered], circles }
}
