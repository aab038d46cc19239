import type { RelationDeclaration, TypeExtension } from '../sdl/sdl-document.ts'
import { SdlError } from '../sdl/sdl-error.ts'

/** A `@through` as it is written, and on which type. */
interface WrittenThrough {
  readonly extension: TypeExtension
  readonly declaration: RelationDeclaration
}

/** What is known of a relation that is a step of another one. */
interface KnownStep {
  readonly to: string
  readonly many: boolean
}

/** More relations one after the other are hardly meant. */
const maxSteps = 6

/** The full names of the relations of a `@through`, and whether one of them leads to many; or why there are none. */
export function stepsOf(
  { from, to }: { readonly from: string; readonly to: string },
  path: string,
  { name, place }: RelationDeclaration,
  stepNamed: (fullName: string) => KnownStep | undefined,
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

/** Those that go through others after them, and of those that go in a circle the circle. */
export function inOrderOfSteps(
  written: readonly WrittenThrough[],
  targetOf: (fullName: string) => string | undefined,
): {
  readonly ordered: readonly WrittenThrough[]
  readonly circles: ReadonlyMap<WrittenThrough, string>
} {
  const nameOf = ({ extension, declaration }: WrittenThrough): string =>
    `${extension.typeName}.${declaration.name}`
  const byName = new Map(written.map((one) => [nameOf(one), one]))
  const ordered = new Set<WrittenThrough>()
  const circles = new Map<WrittenThrough, string>()
  const stepsAt = (one: WrittenThrough): readonly WrittenThrough[] => {
    const { form } = one.declaration
    let type: string | undefined = one.extension.typeName
    const found: WrittenThrough[] = []
    for (const field of form.directive === 'through' ? form.arguments.path.split('.') : []) {
      if (type === undefined) break
      const step = byName.get(`${type}.${field}`)
      if (step !== undefined) found.push(step)
      type = step?.declaration.type.replace(/Connection$/, '') ?? targetOf(`${type}.${field}`)
    }
    return found
  }
  const visit = (one: WrittenThrough, on: readonly WrittenThrough[]): void => {
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
