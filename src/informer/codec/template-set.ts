import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ObjectText } from './object-text.ts'
import { generalGroup } from './sibling-group.ts'
import { createTemplate, type Template } from './template.ts'

/** So many objects of a group are seen before the group may have a template. */
const firstSiblings = 4
/** A row is as it should be up to this part of its object's text. */
const fittingPart = 1 / 8
/** What a template takes in memory: its text, its tree and its object, as a multiple of the text. */
const templateCost = 2
/** The texts of larger objects become no templates. */
const maxTemplateBytes = 1 << 18
/** So many groups are remembered without looking which of them are still in use. */
const firstSweep = 4096

/** What is known of one group of siblings. */
interface SiblingGroup {
  /** Held by its rows only, so that it goes when the last of them goes. */
  template: WeakRef<Template> | undefined
  siblings: number
  /** By how much the rows written since the last template are larger than they should be. */
  excessBytes: number
  /** Doubles with each template, so that a group that nothing fits is left in peace. */
  patience: number
}

/**
 * The templates of one resource: one for each group of siblings that has paid for it, and a general one for all
 * others. A template is made when the rows written without it waste more bytes than it takes, and made anew when they
 * do so with it. The number of groups is bounded by that of live templates: those without are forgotten by each sweep.
 */
export class TemplateSet {
  readonly #groups = new Map<number, SiblingGroup>()
  readonly #general: SiblingGroup = newGroup()
  #generalTemplate: Template | undefined
  #sweepAt = firstSweep

  /** The template to hold an object of the group against. */
  find(group: number): Template | undefined {
    const own = this.#groups.get(group)
    return own?.template?.deref() ?? this.#generalTemplate
  }

  /**
   * Takes note that an object of the group took `heldBytes`, held against `used` where there was a template. Returns
   * the object's own template if it was made one.
   */
  learn(
    text: ObjectText,
    object: KubernetesObject,
    used: Template | undefined,
    heldBytes: number,
  ): Template | undefined {
    const excess = Math.max(0, heldBytes - text.end * fittingPart)
    const own = text.group === generalGroup ? undefined : this.#groupOf(text.group)
    if (own !== undefined && this.#isDue(own, text, excess)) {
      const template = createTemplate(text.bytes, text.end, object)
      own.template = template === undefined ? undefined : new WeakRef(template)
      return template
    }
    const usedGeneral = used === this.#generalTemplate
    if (usedGeneral && this.#isDue(this.#general, text, excess)) {
      this.#generalTemplate = createTemplate(text.bytes, text.end, object)
      return this.#generalTemplate
    }
    return undefined
  }

  #isDue(group: SiblingGroup, text: ObjectText, excess: number): boolean {
    group.siblings++
    group.excessBytes += excess
    if (group.siblings < firstSiblings || text.end > maxTemplateBytes) return false
    if (group.excessBytes < text.end * templateCost * group.patience) return false
    group.excessBytes = 0
    group.patience *= 2
    return true
  }

  #groupOf(key: number): SiblingGroup {
    let group = this.#groups.get(key)
    if (group === undefined) {
      if (this.#groups.size >= this.#sweepAt) this.#sweep()
      group = newGroup()
      this.#groups.set(key, group)
    }
    return group
  }

  #sweep(): void {
    for (const [key, group] of this.#groups) {
      if (group.template?.deref() === undefined) this.#groups.delete(key)
    }
    this.#sweepAt = Math.max(firstSweep, this.#groups.size * 2)
  }
}

function newGroup(): SiblingGroup {
  return { template: undefined, siblings: 0, excessBytes: 0, patience: 1 }
}
