import { type FormEvent, useId, useRef } from 'react'
import { forgetToken, hasToken, signIn } from '../gateway/credentials.ts'
import { signInAddress, useSession } from '../gateway/session.ts'
import controls from '../look/controls.module.css'
import { Mark } from '../look/mark.tsx'
import { words } from '../words.ts'
import styles from './sign-in.module.css'

const said = words.frame.who

/** Stands in the place of everything, as the gateway tells nothing to callers that it does not know. */
export function SignIn() {
  const address = signInAddress()
  return (
    <main className={styles['page']}>
      <div className={styles['form']}>
        <p className={styles['product']}>
          <Mark />
          {words.frame.product}
        </p>
        {address === undefined ? <ByToken /> : <AtProvider address={address} />}
      </div>
    </main>
  )
}

/** Leads to the identity provider, and back to this place. A token is the other way. */
function AtProvider({ address }: { readonly address: string }) {
  const hasEnded = useSession().state === 'ended'
  return (
    <>
      <h1>{hasEnded ? said.ended : said.calm}</h1>
      <p className={styles['words']} role={hasEnded ? 'alert' : undefined}>
        {hasEnded ? said.endedNext : said.calmNext}
      </p>
      <div className={styles['actions']}>
        <a
          className={controls['button']}
          data-kind="main"
          href={address}
          // A token counts more than the session.
          onClick={forgetToken}
        >
          {said.signIn}
        </a>
      </div>
      <details className={styles['other']} open={hasToken()}>
        <summary>{said.byToken}</summary>
        <TokenForm />
      </details>
    </>
  )
}

function ByToken() {
  return (
    <>
      <h1>{said.asks}</h1>
      <TokenForm hasFocus />
    </>
  )
}

function TokenForm({ hasFocus = false }: { readonly hasFocus?: boolean }) {
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
    <form className={styles['token']} onSubmit={submit}>
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
        autoFocus={hasFocus}
        className={controls['field']}
        aria-invalid={isRefused}
        aria-describedby={isRefused ? `${id}-refused` : `${id}-words`}
      />
      <div className={styles['actions']}>
        <button
          type="submit"
          className={controls['button']}
          {...(hasFocus ? { 'data-kind': 'main' } : {})}
        >
          {hasFocus ? said.signIn : said.useToken}
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
  )
}
