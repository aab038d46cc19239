import { parsePath } from '../../query/index/path.ts'
import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError, unknownFieldHint } from '../sdl/sdl-error.ts'
import type { ChosenObjects, RelationField } from './kind.ts'
import type { SchemaAtPath } from './schema-at-path.ts'
import { pathProblem } from './sdl-indexes.ts'

/** What `@chooses` is checked against. */
interface ChoiceSurroundings {
  readonly relationNamed: (typeName: string, field: string) => RelationField | undefined
  /** What the API says of a path of a kind's objects. */
  readonly at: (typeName: string, path: string) => SchemaAtPath
}

/** What `@chooses` says, by the full names of its fields, and what is wrong with it. One whose kind nothing can tell is left out. */
export function sdlChoices(
  extensions: readonly TypeExtension[],
  around: ChoiceSurroundings,
): {
  readonly choices: ReadonlyMap<string, ChosenObjects>
  /** The fields that are left out for these problems. */
  readonly refused: ReadonlySet<string>
  readonly problems: readonly SdlError[]
} {
  const choices = new Map<string, ChosenObjects>()
  const refused = new Set<string>()
  const problems: SdlError[] = []
  for (const { typeName, relations, optional } of extensions) {
    for (const declaration of relations) {
      const found = choiceOf(typeName, declaration, optional, around)
      if (found instanceof SdlError) {
        problems.push(found)
        refused.add(`${typeName}.${declaration.name}`)
      } else if (found !== undefined) choices.set(found.field, found)
    }
  }
  return { choices, refused, problems }
}

function choiceOf(
  typeName: string,
  { name, form, place }: RelationDeclaration,
  optional: boolean,
  { relationNamed, at }: ChoiceSurroundings,
): ChosenObjects | SdlError | undefined {
  if (form.directive !== 'chooses') return undefined
  const { path, kindAt } = form.arguments
  const field = `${typeName}.${name}`
  for (const [argument, text] of Object.entries({ path, kindAt })) {
    const about = `${field}: @chooses(${argument}: ${JSON.stringify(text)})`
    const unreadable = pathProblem(text, place, about)
    if (unreadable !== undefined) return unreadable
    if (!parsePath(text).many) continue
    const hint = 'leave [*] and the like out'
    return new SdlError('bad-path', place, `${about}: there may be several`, hint)
  }
  const [first = '', ...rest] = kindAt.split('.')
  const relation = relationNamed(typeName, first)
  const kindPath = rest.join('.')
  if (relation === undefined || relation.many || kindPath === '') return undefined
  for (const [type, text] of [
    [typeName, path],
    [relation.definition.to, kindPath],
  ] as const) {
    if (at(type, text).form !== 'absent') continue
    if (optional) return undefined
    const message = `${field}: @chooses: a ${type} has nothing at ${text}`
    return new SdlError('unknown-field', place, message, unknownFieldHint)
  }
  return { field, path: parsePath(path), relation, kindPath: parsePath(kindPath) }
}
