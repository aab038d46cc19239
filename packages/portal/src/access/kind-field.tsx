import { useEffect, useState } from 'react'
import type { Kind } from '../gateway/kinds.ts'
import controls from '../look/controls.module.css'
import { accessWords as said } from './access-words.ts'
import { parts, partWords } from './part-words.ts'

/** Takes a kind or a part of its objects as one types it: `Pod`, `pods/exec`, `deployments.apps`; `''` for any. */
export function KindField({
  typed,
  kinds,
  change,
}: {
  readonly typed: string
  readonly kinds: readonly Kind[]
  readonly change: (typed: string) => void
}) {
  const [text, setText] = useState(typed)
  useEffect(() => setText(typed), [typed])
  const take = (next: string): void => {
    if (next.trim() !== typed) change(next.trim())
  }
  const isOffered = (value: string): boolean =>
    kinds.some(({ type }) => type === value) || parts.some((part) => part.typed === value)
  return (
    <label>
      {said.kind}
      <input
        className={controls['field']}
        list="access-kinds"
        value={text}
        placeholder={said.anyKind}
        title={partWords.kindHint}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target: { value }, nativeEvent }) => {
          setText(value)
          // A choice from the list is no typing.
          const { inputType = '' } = nativeEvent as Partial<InputEvent>
          if (['', 'insertReplacementText'].includes(inputType) && isOffered(value)) take(value)
        }}
        onBlur={() => take(text)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          take(text)
        }}
      />
      <datalist id="access-kinds">
        {parts.map(({ typed: value, does }) => (
          <option key={value} value={value} label={does} />
        ))}
        {kinds.map(({ path, type, title, group }) => (
          <option key={path} value={type} label={group === '' ? title : `${title} · ${group}`} />
        ))}
      </datalist>
    </label>
  )
}

/** What is asked for by what one typed. A name that no kind has is one of a resource, unless it begins as types do. */
export function askedOf(
  typed: string,
  kinds: readonly Kind[],
): {
  readonly type?: string
  readonly resource?: string
  readonly subresource?: string
} {
  if (typed === '') return {}
  const [of = '', subresource] = typed.split('/')
  const lower = of.toLowerCase()
  const kind =
    kinds.find(({ type }) => type === of) ??
    kinds.find(({ path }) => path === lower) ??
    kinds.find(({ resource }) => resource === lower) ??
    kinds.find(({ kind: name }) => name.toLowerCase() === lower)
  const isType = kind !== undefined || /^[A-Z]/.test(of)
  return {
    ...(isType ? { type: kind?.type ?? of } : { resource: of }),
    ...(subresource === undefined || subresource === '' ? {} : { subresource }),
  }
}
