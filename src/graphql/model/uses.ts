import type { EndedRule } from '../../query/index/index-definition.ts'
import { relationName } from '../../query/relation/relation-definition.ts'
import type { TypeExtension } from '../sdl/sdl-document.ts'
import type { SdlError } from '../sdl/sdl-error.ts'
import type { RelationField } from './kind.ts'
import { pathProblem } from './sdl-indexes.ts'

/** The field of every kind that something makes use of, and of its `where`. */
export const usedByField = 'usedBy'

/** Whether it is a `@reference` with `uses`. */
export function isUse({ definition }: RelationField): boolean {
  return definition.form === 'reference' && definition.uses === true
}

/** Each of the uses that leads to a kind, read backwards. */
export function usersOf(
  typeName: string,
  uses: readonly RelationField[],
): readonly RelationField[] {
  return uses.flatMap(({ definition }) => {
    if (definition.to !== typeName) return []
    const of = relationName(definition)
    const name = `${usedByField}(${of})`
    const turned = { form: 'reverse', name, from: typeName, to: definition.from, of } as const
    return [{ definition: turned, many: true }]
  })
}

/** What the SDL says of which objects of a type have ended; the last one to say so wins, which is the user's. */
export function endedRuleOf(
  type: string,
  extensions: readonly TypeExtension[],
  problems: SdlError[],
): EndedRule | undefined {
  let rule: EndedRule | undefined
  for (const { typeName, ended } of extensions) {
    if (typeName !== type || ended === undefined) continue
    const { path: paths, in: values } = ended.arguments
    const problem = paths.flatMap(
      (path) => pathProblem(path, ended.place, `@ended of ${typeName}`) ?? [],
    )[0]
    if (problem === undefined) rule = { type, paths, values }
    else problems.push(problem)
  }
  return rule
}
