import { parsePath } from '../../query/index/path.ts'
import { argumentsOf, type RelationDeclaration, type TypeExtension } from '../sdl/sdl-document.ts'
import {
  pathProblem,
  SdlError,
  type SdlPlace,
  type SdlProblem,
  unknownFieldHint,
} from '../sdl/sdl-error.ts'
import type { ObjectRefField } from './kind.ts'
import type { KindCatalog } from './kind-catalog.ts'
import type { SdlRelations } from './sdl-relations.ts'

/** Collects the declared `ObjectRef` fields of all kinds. */
export class SdlObjectRefs {
  readonly #catalog: KindCatalog
  readonly #relations: SdlRelations
  readonly #declared = new Map<string, ObjectRefField[]>()
  readonly #places = new Map<string, SdlPlace>()

  constructor(catalog: KindCatalog, relations: SdlRelations) {
    this.#catalog = catalog
    this.#relations = relations
  }

  /** The fields of one kind, in the order of their declaration. */
  of(typeName: string): readonly ObjectRefField[] {
    return this.#declared.get(typeName) ?? []
  }

  /** Adds all declared fields. Returns their problems. */
  addAll(extensions: readonly TypeExtension[]): readonly SdlError[] {
    return extensions.flatMap(({ typeName, relations, optional }) =>
      relations.flatMap((declaration) => this.#add(typeName, declaration, optional) ?? []),
    )
  }

  #add(
    typeName: string,
    declaration: RelationDeclaration,
    optional: boolean,
  ): SdlError | undefined {
    const { name, type, isList, place, description } = declaration
    const args = argumentsOf(declaration, 'objectRef')
    if (args === undefined || declaration.isHidden) return undefined
    const full = `${typeName}.${name}`
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, `${full}: ${message}`, hint)
    const { path, topmost, kindAt } = args
    const earlier = this.#places.get(full)
    if (earlier !== undefined) {
      const message = `is declared already at ${earlier.file}:${earlier.line}`
      return fail('duplicate-relation', message, 'choose another name')
    }
    const isTaken =
      this.#catalog.hasField(typeName, name) || this.#relations.find(typeName, name) !== undefined
    if (isTaken)
      return fail('native-field', 'the type has a field of this name', 'choose another name')
    for (const one of path) {
      const unreadable = pathProblem(one, place, full)
      if (unreadable !== undefined) return unreadable
    }
    if (path.length === 0)
      return fail('unsupported', '@objectRef without a path', 'say where the reference stands')
    const written = isList ? `[${type}]` : type
    const parsed = path.map((one) => parsePath(one))
    const wanted = parsed.some(({ many }) => many) ? '[ObjectRef]' : 'ObjectRef'
    // A step `[member]` or `[member="value"]` may find one item only; `[*]` finds several.
    const mayBeOne = !parsed.some(({ steps }) => steps.some(({ form: step }) => step === 'each'))
    if (written !== wanted && !(mayBeOne && written === 'ObjectRef')) {
      const message = `${path.join(', ')} does not give a ${written}`
      return fail('field-type', message, `write its type as ${wanted}`)
    }
    const missing = path.filter((one) => this.#catalog.at(typeName, one).form === 'absent')
    if (optional && missing.length === path.length) return undefined
    if (!optional && missing.length > 0)
      return fail('unknown-field', `a ${typeName} has nothing at ${missing[0]}`, unknownFieldHint)
    const about = `${full}: @objectRef(kindAt: ${JSON.stringify(kindAt)})`
    const unreadable = kindAt ? pathProblem(kindAt, place, about) : undefined
    if (unreadable !== undefined) return unreadable
    const kindPlace = kindAt ? this.#relations.kindPlace(typeName, kindAt) : undefined
    if (kindAt && kindPlace === undefined) {
      // The relation may have been passed over, as its type is not served.
      if (optional) return undefined
      const hint = 'write it as RELATION.PATH, behind a relation to one object of the same type'
      return fail('unknown-relation', `there is no ${kindAt} to read the kind at`, hint)
    }
    if (kindPlace !== undefined) {
      const { to } = kindPlace.relation.definition
      if (this.#catalog.at(to, kindPlace.path).form === 'absent') {
        if (optional) return undefined
        return fail('unknown-field', `a ${to} has nothing at ${kindPlace.path}`, unknownFieldHint)
      }
    }
    const field: ObjectRefField = {
      name,
      paths: path,
      many: isList,
      ...(topmost ? { isTopmost: true } : {}),
      ...(kindPlace === undefined ? {} : { kindAt: kindPlace }),
      ...(description === undefined ? {} : { description }),
    }
    this.#declared.set(typeName, [...this.of(typeName), field])
    this.#places.set(full, place)
    return undefined
  }
}
