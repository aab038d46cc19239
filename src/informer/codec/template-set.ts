import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ObjectText } from './object-text.ts'
import { noGroup } from './sibling-group.ts'
import { createTemplate, maxTemplateBytes, type Template, templateBytes } from './template.ts'

/** How many objects of a group come before it may have a template. */
const firstObjects = 4
/** A row fits its template up to this part of its object's text. */
const fittingPart = 1 / 8
/** The memory of a template (text, tree and object), as a multiple of its text. */
const templateCost = 3
/** The first sweep for unused groups comes after so many groups. */
const firstSweep = 4096

/** The state of one group of objects. */
interface Group {
  /** Retained by its rows only, so that it is collected with the last of them. */
  template: WeakRef<Template> | undefined
  objects: number
  /** How many bytes the rows since the last template waste. */
  excessBytes: number
  /** Doubles with each template, so that a group without a fitting one stops trying. */
  patience: number
}

/**
 * The templates of one resource: one for all objects, and one for each group that is worth it. An object is held
 * against the template of its siblings (same owner, same namespace), of its kin in other namespaces, or of all objects.
 *
 * A template is created when the rows without it waste more bytes than it takes, and replaced when the rows with it do.
 * The number of groups is bounded by the number of used templates: each sweep drops groups without one.
 */
export class TemplateSet {
  readonly #groups = new Map<number, Group>()
  readonly #all: Group = newGroup()
  #templateOfAll: Template | undefined
  #sweepAt = firstSweep
  #bytes = 0
  readonly #collected = new FinalizationRegistry((bytes: number) => (this.#bytes -= bytes))

  /** The approximate memory of the templates that were created and not yet collected. */
  get bytes(): number {
    return this.#bytes
  }

  /** The template to hold an object against. */
  find({ siblings, kin }: ObjectText): Template | undefined {
    return this.#templateOf(siblings) ?? this.#templateOf(kin) ?? this.#templateOfAll
  }

  /**
   * Records that an object took `heldBytes` against the template from `find`. Returns a template if the object becomes
   * one.
   */
  learn(text: ObjectText, object: KubernetesObject, heldBytes: number): Template | undefined {
    const excess = Math.max(0, heldBytes - text.end * fittingPart)
    const ofSiblings = this.#templateOf(text.siblings) !== undefined
    const ofKin = ofSiblings || this.#templateOf(text.kin) !== undefined
    const all = !ofKin && isDue(this.#all, text, excess)
    const kin = !ofSiblings && isDue(this.#groupOf(text.kin), text, excess)
    const siblings = isDue(this.#groupOf(text.siblings), text, excess)
    if (!all && !kin && !siblings) return undefined
    const template = createTemplate(text.bytes, text.end, object)
    if (template !== undefined) {
      const bytes = templateBytes(template)
      this.#bytes += bytes
      this.#collected.register(template, bytes)
    }
    if (all) this.#templateOfAll = template
    const group = all ? undefined : this.#groupOf(kin ? text.kin : text.siblings)
    if (group !== undefined) group.template = template && new WeakRef(template)
    return template
  }

  #templateOf(key: number): Template | undefined {
    return key === noGroup ? undefined : this.#groups.get(key)?.template?.deref()
  }

  #groupOf(key: number): Group | undefined {
    if (key === noGroup) return undefined
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

/** Whether the group needs a new template. If so, resets its count. */
function isDue(group: Group | undefined, text: ObjectText, excess: number): boolean {
  if (group === undefined) return false
  group.objects++
  group.excessBytes += excess
  if (group.objects < firstObjects || text.end > maxTemplateBytes) return false
  if (group.excessBytes < text.end * templateCost * group.patience) return false
  group.excessBytes = 0
  group.patience *= 2
  return true
}

function newGroup(): Group {
  return { template: undefined, objects: 0, excessBytes: 0, patience: 1 }
}
