import type { KubernetesObject } from '../../kubernetes/object.ts'
import type { ObjectText } from './object-text.ts'
import { noGroup } from './sibling-group.ts'
import { createTemplate, maxTemplateBytes, type Template, templateBytes } from './template.ts'

/** So many objects of a group are seen before the group may have a template. */
const firstObjects = 4
/** A row is as it should be up to this part of its object's text. */
const fittingPart = 1 / 8
/** What a template takes in memory: its text, its tree and its object, as a multiple of the text. */
const templateCost = 3
/** So many groups are remembered without looking which of them are still in use. */
const firstSweep = 4096

/** What is known of one group of objects. */
interface Group {
  /** Held by its rows only, so that it goes when the last of them goes. */
  template: WeakRef<Template> | undefined
  objects: number
  /** By how much the rows written since the last template are larger than they should be. */
  excessBytes: number
  /** Doubles with each template, so that a group that nothing fits is left in peace. */
  patience: number
}

/**
 * The templates of one resource: one for all objects, and one for each group that has paid for it. An object may be
 * held against the template of its siblings (same owner, same namespace), of its kin in other namespaces, or of all.
 *
 * A template is made when the rows written without it waste more bytes than it takes, and made anew when they do so
 * with it. The number of groups is bounded by that of the templates in use: those without are forgotten by each sweep.
 */
export class TemplateSet {
  readonly #groups = new Map<number, Group>()
  readonly #all: Group = newGroup()
  #templateOfAll: Template | undefined
  #sweepAt = firstSweep
  #bytes = 0
  readonly #collected = new FinalizationRegistry((bytes: number) => (this.#bytes -= bytes))

  /** About what the templates take in memory that have been made and not yet been collected. */
  get bytes(): number {
    return this.#bytes
  }

  /** The template to hold an object against. */
  find({ siblings, kin }: ObjectText): Template | undefined {
    return this.#templateOf(siblings) ?? this.#templateOf(kin) ?? this.#templateOfAll
  }

  /**
   * Takes note that an object, held against what `find` gave, took `heldBytes`. Returns the object's own template if
   * it was made one.
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

/** Whether the group is to have a new template; if so, its count begins again. */
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
