import { parsePath } from '../../query/index/path.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError, type SdlPlace, type SdlProblem, unknownFieldHint } from '../sdl/sdl-error.ts'
import type { ObjectRefField, RelationField } from './kind.ts'
import type { SchemaAtPath } from './schema-at-path.ts'
import { pathProblem } from './sdl-indexes.ts'

/** What object references are checked against. */
interface ObjectRefSurroundings {
  /** Whether a kind has a field of this name otherwise. */
  readonly hasField: (typeName: string, field: string) => boolean
  readonly relationNamed: (typeName: string, field: string) => RelationField | undefined
  /** What the API says of a path of a kind's objects. */
  readonly at: (typeName: string, path: string) => SchemaAtPath
}

/** Collects the declared `ObjectRef` fields of all kinds. */
export class SdlObjectRefs {
  readonly #around: ObjectRefSurroundings
  readonly #declared = new Map<string, ObjectRefField[]>()
  readonly #places = new Map<string, SdlPlace>()

  constructor(around: ObjectRefSurroundings) {
    this.#around = around
  }

  /** Those of one kind, in the order of their declaration. */
  of(typeName: string): readonly ObjectRefField[] {
    return this.#declared.get(typeName) ?? []
  }

  /** Takes in all that are declared. Returns what is wrong with them. */
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
    const { name, type, isList, place, form, description } = declaration
    if (form.directive !== 'objectRef') return undefined
    const fail = (problem: SdlProblem, message: string, hint: string): SdlError =>
      new SdlError(problem, place, `${typeName}.${name}: ${message}`, hint)
    const { path, topmost, kindAt } = form.arguments
    const fields = this.#declared.get(typeName) ?? []
    const earlier = this.#places.get(`${typeName}.${name}`)
    if (earlier !== undefined) {
      const { file, line } = earlier
      const message = `is declared already at ${file}:${line}`
      return fail('duplicate-relation', message, 'choose another name')
    }
    if (this.#around.hasField(typeName, name))
      return fail('native-field', 'the type has a field of this name', 'choose another name')
    for (const one of path) {
      const unreadable = pathProblem(one, place, `${typeName}.${name}`)
      if (unreadable !== undefined) return unreadable
    }
    if (path.length === 0)
      return fail('unsupported', '@objectRef without a path', 'say where the reference stands')
    const written = isList ? `[${type}]` : type
    const parsed = path.map((one) => parsePath(one))
    const many = parsed.some((one) => one.many)
    // Of the items that have a value or a member one may be meant.
    const isEither = !parsed.some(({ steps }) => steps.some(({ form: step }) => step === 'each'))
    const wanted = many ? '[ObjectRef]' : 'ObjectRef'
    if (written !== wanted && !(isEither && written === 'ObjectRef')) {
      const places = path.join(', ')
      return fail(
        'field-type',
        `${places} does not give a ${written}`,
        `write its type as ${wanted}`,
      )
    }
    const present = path.filter((one) => this.#around.at(typeName, one).form !== 'absent')
    if (optional && present.length === 0) return undefined
    if (!optional && present.length < path.length) {
      const missing = path.find((one) => !present.includes(one))
      return fail('unknown-field', `a ${typeName} has nothing at ${missing}`, unknownFieldHint)
    }
    const about = `${typeName}.${name}: @objectRef(kindAt: ${JSON.stringify(kindAt)})`
    const unreadable = kindAt ? pathProblem(kindAt, place, about) : undefined
    if (unreadable !== undefined) return unreadable
    const kindPlace = kindAt ? this.#kindPlace(typeName, kindAt) : undefined
    if (kindAt && kindPlace === undefined) {
      // The relation may have been passed over, with a type that is not served.
      if (optional) return undefined
      const hint = 'write it as RELATION.PATH, behind a relation to one object of the same type'
      return fail('unknown-relation', `there is no ${kindAt} to read the kind at`, hint)
    }
    if (kindPlace !== undefined) {
      const { to } = kindPlace.relation.definition
      if (this.#around.at(to, kindPlace.path).form === 'absent') {
        if (optional) return undefined
        return fail('unknown-field', `a ${to} has nothing at ${kindPlace.path}`, unknownFieldHint)
      }
    }
    fields.push({
      name,
      paths: path,
      many: isList,
      ...(topmost ? { isTopmost: true } : {}),
      ...(kindPlace === undefined ? {} : { kindAt: kindPlace }),
      ...(description === undefined ? {} : { description }),
    })
    this.#declared.set(typeName, fields)
    this.#places.set(`${typeName}.${name}`, place)
    return undefined
  }

  #kindPlace(typeName: string, kindAt: string): ObjectRefField['kindAt'] {
    const [field = '', ...rest] = kindAt.split('.')
    const relation = this.#around.relationNamed(typeName, field)
    const path = rest.join('.')
    const isKnown = relation !== undefined && !relation.many && path !== ''
    return isKnown ? { relation, path } : undefined
  }
}
