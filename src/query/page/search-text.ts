/*
 * The language of search texts: words separated by spaces, quoted words, `kind:` and `namespace:`, and labels. A search reads a
 * whole text; a completion reads it up to the last word, which is being written.
 */

import {
  type LabelSelector,
  LabelSelectorError,
  parseLabelSelector,
} from '../../kubernetes/label-selector.ts'
import { ArgumentError } from '../condition/argument-error.ts'

/** What a search text asks for. An object must meet all of it. */
export interface SearchWords {
  /** In lower case: each is a part of the name, of a label or of a searchable value. */
  readonly texts: readonly string[]
  readonly labels: LabelSelector
  /** Names of kinds as the caller writes them. An object must be of one of these kinds; empty: of any kind. */
  readonly kinds: readonly string[]
  /** `null`: any namespace. */
  readonly namespaces: readonly string[] | null
}

/** The longest text, in UTF-16 code units. */
const maxTextLength = 256
export const maxTexts = 8

/**
 * Reads a search text: words separated by spaces.
 *
 *     cart api  "two words"  kind:pod,deploy  namespace:shop  ns:shop,pay  team=payments  team=
 *
 * A word with `=` is a label selector as kubectl writes it, except that `team=` asks for the label with any value
 * (`team=""` for the empty one). A word that begins with a quote is text whatever it contains; a quote that is not closed
 * ends with the text. Several `kind:` words are alternatives, as are several `namespace:` words. Throws `ArgumentError`.
 */
export function searchWords(text: string): SearchWords {
  const words = wordsIn(text).map(({ raw }) => wordOf(raw))
  if (words.length === 0) {
    throw new ArgumentError('text', `must have from 1 to ${maxTextLength} characters`, {
      value: text,
      hint: 'search for a part of a name or of a label',
    })
  }
  return meantBy(words)
}

export interface UnfinishedText {
  /** The words before the last one. */
  readonly before: SearchWords
  readonly last: UnfinishedWord
  /** Where the last word begins, in UTF-16 code units: what completes it replaces the rest of the text. */
  readonly from: number
}

/** A word that is being written. `head` is what stays in front of the part that is completed: `kind:pod,`. */
export type UnfinishedWord =
  | { readonly form: 'text'; readonly start: string }
  | { readonly form: 'kind' | 'namespace'; readonly head: string; readonly start: string }
  | { readonly form: 'label'; readonly key: string; readonly head: string; readonly start: string }

/** Reads a text up to its last word, which is empty behind a space. Throws `ArgumentError` for `text`. */
export function unfinishedText(text: string): UnfinishedText {
  const words = wordsIn(text)
  const last = words.at(-1)
  const isOpen = last !== undefined && last.at + last.raw.length === text.length
  const raw = isOpen ? last.raw : ''
  const before = (isOpen ? words.slice(0, -1) : words).map((one) => wordOf(one.raw))
  return { before: meantBy(before), last: unfinishedWord(raw), from: text.length - raw.length }
}

/** Writes a text as one word that finds it. */
export function textWord(text: string): string {
  const isPlain = /^[^\s"=]+$/u.test(text) && wordOf(text).form === 'text'
  return isPlain ? text : `"${text.replaceAll(/["\\]/gu, String.raw`\$&`)}"`
}

type Word =
  | { readonly form: 'text'; readonly text: string }
  | { readonly form: 'kind' | 'namespace'; readonly names: readonly string[] }
  | { readonly form: 'label'; readonly selector: LabelSelector }

function meantBy(words: readonly Word[]): SearchWords {
  const texts = words.flatMap((word) => (word.form === 'text' ? word.text.toLowerCase() : []))
  if (texts.length > maxTexts) {
    throw new ArgumentError('text', `has more than ${maxTexts} words to find`, {
      value: texts.length,
      hint: 'leave words out, or put quotes around words that stand together',
    })
  }
  const namesOf = (form: 'kind' | 'namespace'): readonly string[] =>
    words.flatMap((word) => (word.form === form ? word.names : []))
  const namespaces = namesOf('namespace')
  return {
    texts: [...new Set(texts)],
    labels: words.flatMap((word) => (word.form === 'label' ? word.selector : [])),
    kinds: namesOf('kind'),
    namespaces: namespaces.length === 0 ? null : namespaces,
  }
}

interface RawWord {
  readonly raw: string
  readonly at: number
}

function wordsIn(text: string): readonly RawWord[] {
  if (text.length > maxTextLength) {
    throw new ArgumentError('text', `must have from 1 to ${maxTextLength} characters`, {
      value: text.length,
      hint: 'search for a part of a name or of a label',
    })
  }
  const pattern = /"(?:[^"\\]|\\.)*(?:"|\\?$)|(?:[^\s"]|"[^"]*(?:"|$))+/gu
  return Array.from(text.matchAll(pattern), ({ 0: raw, index }) => ({ raw, at: index }))
}

const named = /^(kind|namespace|ns):(.*)$/su

function wordOf(raw: string): Word {
  if (raw.startsWith('"')) {
    const text = unquoted(raw)
    if (text !== '') return { form: 'text', text }
    throw new ArgumentError('text', 'has a quoted word without content', { value: raw })
  }
  const [, name = '', list = ''] = named.exec(raw) ?? []
  if (name !== '') {
    const names = list.split(',').map(unquoted)
    if (names.every((one) => one !== '')) {
      return { form: name === 'kind' ? 'kind' : 'namespace', names }
    }
    const fullName = name === 'kind' ? name : 'namespace'
    throw new ArgumentError('text', `${JSON.stringify(raw)} does not name a ${fullName}`, {
      value: raw,
      hint: `write ${name}:NAME, or NAME,NAME for several`,
    })
  }
  if (!raw.includes('=')) return { form: 'text', text: raw }
  // `team=` asks for the label, and `team=""` for its empty value.
  const selector = /^[^=!<>,]+=$/u.test(raw) ? raw.slice(0, -1) : raw.replace(/=""$/u, '=')
  try {
    return { form: 'label', selector: parseLabelSelector(selector) }
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error
    throw new ArgumentError('text', error.message, {
      value: raw,
      hint: 'a word with = is a label, such as team=payments; quote it to find it as text',
    })
  }
}

function unfinishedWord(raw: string): UnfinishedWord {
  if (raw.startsWith('"')) return { form: 'text', start: unquoted(raw) }
  const [, name = '', list = ''] = named.exec(raw) ?? []
  if (name !== '') {
    const start = list.slice(list.lastIndexOf(',') + 1)
    const head = raw.slice(0, raw.length - start.length)
    return { form: name === 'kind' ? 'kind' : 'namespace', head, start: unquoted(start) }
  }
  const [head = '', key = ''] = /^([^=!<>,]+)(?:==?|!=)/u.exec(raw) ?? []
  if (head === '') return { form: 'text', start: raw }
  return { form: 'label', key, head, start: unquoted(raw.slice(head.length)) }
}

/** Quotes need not be closed: the text may be unfinished. */
function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  const inner = /^"((?:[^"\\]|\\.)*)/su.exec(text)?.[1] ?? ''
  return inner.replaceAll(/\\(.)/gsu, '$1')
}
