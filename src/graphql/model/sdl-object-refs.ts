import { parsePath } from '../../query/index/path.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError, type SdlProblem } from '../sdl/sdl-error.ts'
import type { ObjectRefField } from './kind.ts'
import { pathProblem } from './sdl-indexes.ts'

/** Collects the declared `ObjectRef` fields of all kinds. */
export class SdlObjectRefs {
  readonly #hasField: (typeName: string, field: string) => boolean
  readonly #declared = new Map<string, ObjectRefField[]>()

  /** `hasField`: whether a kind has a field of this name otherwise. */
  constructor(hasField: (typeName: string, field: string) => boolean) {
    this.#hasField = hasField
  }

  /** Those of one kind, in the order of their declaration. */
  of(typeName: string): readonly ObjectRefField[] {
    return this.#declared.get(typeName) ?? []
  }

  /** Takes in all that are declared. Returns what is wrong with them. */
  addAll(extensions: readonly TypeExtension[]): readonly SdlError[] {
    return extensions.flatMap(({ typeName, relations }) =>
      relations.flatMap((declaration) => this.#add(typeName, declaration) ?? []),
    )
  }

  #add(typeName: string, declaration: RelationDeclaration): SdlError | undefined {
    const { name, type, isList, place, form, description } = declaration
    if (form.directive !== 'objectRef') return undefined
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, `${typeName}.${name}: ${message}`, hint)
    const { path, topmost } = form.arguments
    const fields = this.#declared.get(typeName) ?? []
    if (fields.some((field) => field.name === name))
      return fail('duplicate-relation', 'is declared already', 'choose another name')
    if (this.#hasField(typeName, name))
      return fail('native-field', 'the type has a field of this name', 'choose another name')
    const unreadable = pathProblem(path, place)
    if (unreadable !== undefined) return unreadable
    const written = isList ? `[${type}]` : type
    const { many, steps } = parsePath(path)
    // Of the items that have a value or a member one may be meant.
    const isEither = many && !steps.some(({ form: step }) => step === 'each')
    const wanted = many ? '[ObjectRef]' : 'ObjectRef'
    if (written !== wanted && !(isEither && written === 'ObjectRef'))
      return fail('field-type', `${path} does not give a ${written}`, `write its type as ${wanted}`)
    fields.push({
      name,
      path,
      many: isList,
      ...(topmost ? { isTopmost: true } : {}),
      ...(description === undefined ? {} : { description }),
    })
    this.#declared.set(typeName, fields)
    return undefined
  }
}
