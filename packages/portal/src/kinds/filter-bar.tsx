import { type KeyboardEvent, type RefObject, useEffect, useId, useState } from 'react'
import type { Kind } from '../gateway/kinds.ts'
import { Icon } from '../look/icons.tsx'
import { words } from '../words.ts'
import { isStateless } from './columns.ts'
import styles from './filter-bar.module.css'
import { textOf, tokenOf, tokensOf, tokenText, type Token } from './filter-text.ts'
import { type SuggestedList, type Suggestion, useSuggestions } from './suggestions.ts'

/** The field of a table's filter: tokens, and the one that is typed, with ways to go on. */
export function FilterBar({
  kind,
  list,
  tokens,
  problems,
  draft,
  field,
  setDraft,
  setTokens,
  enterTable,
}: {
  readonly kind: Kind
  readonly list: SuggestedList
  readonly tokens: readonly Token[]
  readonly problems: readonly (string | undefined)[]
  /** What is typed and no token yet. */
  readonly draft: string
  readonly field: RefObject<HTMLInputElement | null>
  readonly setDraft: (draft: string) => void
  readonly setTokens: (tokens: readonly Token[]) => void
  /** Goes on to the rows, by the keyboard. */
  readonly enterTable: () => void
}) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const suggestions = useSuggestions(kind, list, draft, isOpen)
  const isValue = tokenOf(draft).name !== undefined && !/[*<>=]/u.test(tokenOf(draft).value)
  // While a value is typed, the first suggestion is what Enter takes.
  const usual = isValue && tokenOf(draft).value !== '' ? 0 : -1
  const highlighted = Math.min(chosen < 0 ? usual : chosen, suggestions.length - 1)
  useScrolledTo(`${id}-${highlighted}`)

  const type = (text: string): void => {
    setDraft(text)
    setChosen(-1)
    setOpen(true)
  }
  const commit = (text: string): void => {
    setTokens(tokensOf(withTokens(textOf(tokens), text)))
    setDraft('')
    setChosen(-1)
    setOpen(false)
  }
  const take = ({ text, isComplete }: Suggestion): void => {
    if (isComplete) commit(text)
    else type(text)
  }
  const remove = (at: number): void => {
    setTokens(tokens.toSpliced(at, 1))
    field.current?.focus()
  }

  const pressed = (event: KeyboardEvent<HTMLInputElement>): void => {
    const { key } = event
    const one = suggestions[highlighted]
    const first = suggestions[Math.max(highlighted, 0)]
    if (key === 'ArrowDown' && (!isOpen || suggestions.length === 0)) {
      if (draft !== '') commit(draft)
      enterTable()
    } else if (key === 'ArrowDown' || key === 'ArrowUp') {
      const length = suggestions.length
      setOpen(true)
      if (length > 0) {
        const step = key === 'ArrowDown' ? highlighted + 1 : highlighted - 1
        setChosen(((step % length) + length) % length)
      }
    } else if (key === 'Enter') {
      if (isOpen && one !== undefined) take(one)
      else commit(draft)
    } else if (key === 'Tab' && !event.shiftKey && isOpen && draft !== '' && first !== undefined) {
      take(first)
    } else if (key === ' ' && draft.trim() !== '' && !hasOpenQuote(draft)) commit(draft)
    else if (key === 'Backspace' && draft === '' && tokens.length > 0) remove(tokens.length - 1)
    else if (key === 'Escape' && (isOpen || draft !== '')) {
      if (isOpen) setOpen(false)
      else setDraft('')
    } else if (key === 'Escape') event.currentTarget.blur()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div className={styles['bar']}>
      <span className={styles['icon']}>
        <Icon name="search" />
      </span>
      {tokens.map((token, at) => (
        <span
          key={tokenText(token)}
          className={styles['token']}
          data-wrong={problems[at] !== undefined || undefined}
          title={problems[at]}
        >
          <button
            type="button"
            className={styles['tokenText']}
            aria-label={words.filter.edit(tokenText(token))}
            onClick={() => {
              setTokens(tokens.toSpliced(at, 1))
              type(tokenText(token))
              field.current?.focus()
            }}
          >
            <TokenWords token={token} />
          </button>
          <button
            type="button"
            className={styles['remove']}
            aria-label={words.filter.remove(tokenText(token))}
            onClick={() => {
              remove(at)
            }}
          >
            ×
          </button>
        </span>
      ))}
      <div className={styles['place']}>
        <input
          ref={field}
          className={styles['field']}
          role="combobox"
          aria-label={words.filter.title}
          aria-autocomplete="list"
          aria-expanded={isOpen && suggestions.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={
            isOpen && suggestions[highlighted] !== undefined ? `${id}-${highlighted}` : undefined
          }
          autoComplete="off"
          spellCheck={false}
          placeholder={tokens.length === 0 ? words.filter.placeholder(exampleOf(kind)) : undefined}
          value={draft}
          onChange={({ target }) => {
            type(target.value)
          }}
          onFocus={() => {
            setOpen(true)
          }}
          onBlur={() => {
            setOpen(false)
            if (tokenOf(draft).value !== '') commit(draft)
          }}
          onKeyDown={pressed}
        />
        <ul
          id={`${id}-list`}
          role="listbox"
          aria-label={words.filter.suggestions}
          className={styles['list']}
          hidden={!isOpen || suggestions.length === 0}
        >
          {suggestions.map((suggestion, at) => (
            <li
              key={suggestion.text}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === highlighted}
              className={styles['option']}
              // The field keeps the focus.
              onMouseDown={(event) => {
                event.preventDefault()
                take(suggestion)
              }}
            >
              <span className={styles['label']}>{suggestion.label}</span>
              <span className={styles['detail']}>{suggestion.detail}</span>
            </li>
          ))}
        </ul>
      </div>
      {tokens.length > 0 || draft !== '' ? (
        <button
          type="button"
          className={styles['clear']}
          onClick={() => {
            setDraft('')
            setTokens([])
            field.current?.focus()
          }}
        >
          {words.filter.clear}
        </button>
      ) : null}
    </div>
  )
}

function TokenWords({ token: { negated, name, value } }: { readonly token: Token }) {
  return (
    <>
      {negated ? <span className={styles['not']}>{words.filter.not} </span> : null}
      {name === undefined ? null : <span className={styles['name']}>{name}: </span>}
      {value}
    </>
  )
}

/** A token of this kind, for those who do not know the language yet: one that finds what they look for. */
function exampleOf(kind: Kind): string {
  return isStateless(kind) ? 'age:<1h' : 'health:degraded'
}

/** A quote that is not closed: spaces belong to the value. */
function hasOpenQuote(draft: string): boolean {
  return (draft.replaceAll(/\\./gu, '').match(/"/gu) ?? []).length % 2 === 1
}

function useScrolledTo(id: string): void {
  useEffect(() => {
    document.querySelector(`[id="${id}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [id])
}

/** A filter with one token more, or without it if it has it. */
export function withToken(text: string, token: string): string {
  const tokens = tokensOf(text)
  const others = tokens.filter((one) => tokenText(one) !== token)
  return textOf(others.length < tokens.length ? others : [...tokens, tokenOf(token)])
}

/** A filter with those tokens of another text that it does not have, and each token once. */
export function withTokens(text: string, more: string): string {
  const tokens = [...tokensOf(text), ...tokensOf(more)].filter(({ value }) => value !== '')
  return [...new Set(tokens.map(tokenText))].join(' ')
}
