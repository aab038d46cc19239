import { type FormEvent, useId, useRef } from 'react'
import { hasToken, signIn } from '../gateway/credentials.ts'
import controls from '../look/controls.module.css'
import { words } from '../words.ts'
import styles from './sign-in.module.css'

const said = words.frame.who

/** Asks for a bearer token: shown in the place of everything, as the gateway tells nothing without one. */
export function SignIn() {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const isRefused = hasToken()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const token = field.current?.value.replace(/^\s*bearer\s+/i, '').trim() ?? ''
    if (token === '') field.current?.focus()
    else signIn(token)
  }
  return (
    <main className={styles['page']}>
      <form className={styles['form']} onSubmit={submit}>
        <h1>{said.asks}</h1>
        {isRefused ? (
          <p role="alert" id={`${id}-refused`} className={styles['refused']}>
            {said.refused}
          </p>
        ) : null}
        <p className={styles['words']} id={`${id}-words`}>
          {said.give}
        </p>
        <label htmlFor={id}>{said.token}</label>
        <input
          ref={field}
          id={id}
          // Not a password to be kept by the browser.
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          className={controls['field']}
          aria-invalid={isRefused}
          aria-describedby={isRefused ? `${id}-refused` : `${id}-words`}
        />
        <div className={styles['actions']}>
          <button type="submit" className={controls['button']} data-kind="main">
            {said.signIn}
          </button>
          {isRefused ? (
            <button
              type="button"
              className={controls['button']}
              onClick={() => {
                signIn(null)
              }}
            >
              {said.signOut}
            </button>
          ) : null}
        </div>
        <p className={styles['words']}>
          <code>{said.example}</code>
        </p>
      </form>
    </main>
  )
}
