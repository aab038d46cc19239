import { answerOf } from './answer-builder.ts'
import type { ObjectSelection } from './projection.ts'
import type { TemplateAnswer } from './template-answer.ts'
import type { Template } from './template.ts'

/** The answers of one template; `null` where there is none. */
type Answers = Map<ObjectSelection, TemplateAnswer | null>

/** What an entry takes beside its answer. */
const entryBytes = 100

/**
 * The answers to the selections of one resource, of each template one. They go with their templates; and since
 * selections come and go too, those not asked for lately: once the young ones take `maxBytes` they become the old ones,
 * and the old ones go unless they are asked for before the next time. So all of them take at most twice `maxBytes`.
 */
export class AnswerCache {
  readonly #maxBytes: number
  #young = new WeakMap<Template, Answers>()
  #old = new WeakMap<Template, Answers>()
  #youngBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** `undefined` where the template's rows must be decoded. */
  answer(template: Template, selection: ObjectSelection): TemplateAnswer | undefined {
    const young = this.#young.get(template)?.get(selection)
    return (young === undefined ? this.#renew(template, selection) : young) ?? undefined
  }

  #renew(template: Template, selection: ObjectSelection): TemplateAnswer | null {
    const old = this.#old.get(template)?.get(selection)
    const answer = old === undefined ? (answerOf(template, selection) ?? null) : old
    this.#youngBytes += entryBytes + (answer?.bytes ?? 0)
    if (this.#youngBytes > this.#maxBytes) {
      this.#old = this.#young
      this.#young = new WeakMap()
      this.#youngBytes = entryBytes + (answer?.bytes ?? 0)
    }
    const answers: Answers = this.#young.get(template) ?? new Map()
    this.#young.set(template, answers.set(selection, answer))
    return answer
  }
}
