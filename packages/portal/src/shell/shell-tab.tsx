import { lazy, Suspense, useRef, useState } from 'react'
import { ShellRightDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import controls from '../look/controls.module.css'
import { listAt, textAt, valueAt } from '../object/json.ts'
import type { SeenObject } from '../object/live-object.ts'
import type { ShellEnd, ShellTarget } from './shell-session.ts'
import styles from './shell-tab.module.css'
import { shellWords as say } from './shell-words.ts'

// Brings xterm.js, when a shell is opened.
const Terminal = lazy(async () => ({ default: (await import('./terminal.tsx')).Terminal }))

const debugImage = 'busybox:1.37'

type State =
  | { readonly form: 'asking' }
  | { readonly form: 'opening' }
  | { readonly form: 'open'; readonly container: string }
  | { readonly form: 'ended'; readonly end: ShellEnd }

/** A shell in a container of a pod, or in a debug container. */
export function ShellTab({ object }: { readonly object: SeenObject }) {
  const { clusterName: cluster, namespace, name: pod, json, id } = object
  const names = containersOf(json)
  const [container, setContainer] = useState(names[0] ?? '')
  const [command, setCommand] = useState('sh')
  const [image, setImage] = useState<string>()
  const [shell, setShell] = useState<{ readonly target: ShellTarget; readonly at: number }>()
  const [state, setState] = useState<State>({ form: 'asking' })
  const next = useRef<HTMLButtonElement>(null)
  const { data } = useAnswer(ShellRightDocument, { id })
  // Where nobody is asked who they are, the gateway's own account decides, and `can` speaks of writes only.
  const rights = (data?.viewer ?? null) === null ? undefined : data?.object
  const right = image === undefined ? rights?.exec : rights?.debug
  const isRunning = state.form === 'opening' || state.form === 'open'
  const open = (): void => {
    const target = {
      cluster,
      namespace: namespace ?? '',
      pod,
      container,
      command: command.trim().split(/\s+/),
      ...(image === undefined ? {} : { debug: { image: image.trim() } }),
    }
    setState({ form: 'opening' })
    setShell((before) => ({ target, at: (before?.at ?? 0) + 1 }))
  }
  const end = (): void => {
    setShell(undefined)
    setState({ form: 'asking' })
  }
  return (
    <div className={styles['shell']}>
      <form
        className={styles['bar']}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isRunning) open()
        }}
      >
        <select
          aria-label={say.container}
          value={container}
          disabled={isRunning}
          onChange={({ target }) => setContainer(target.value)}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input
          aria-label={say.command}
          value={command}
          disabled={isRunning}
          required
          spellCheck={false}
          onChange={({ target }) => setCommand(target.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={image !== undefined}
            disabled={isRunning}
            onChange={({ target }) => setImage(target.checked ? debugImage : undefined)}
          />
          {say.debug}
        </label>
        {image === undefined ? null : (
          <input
            aria-label={say.image}
            value={image}
            disabled={isRunning}
            required
            spellCheck={false}
            onChange={({ target }) => setImage(target.value)}
          />
        )}
        {isRunning ? (
          <button key="end" ref={next} type="button" onClick={end}>
            {say.end}
          </button>
        ) : (
          <button
            key="open"
            ref={next}
            type="submit"
            className={controls['button']}
            data-kind="main"
            disabled={names.length === 0 || right === false}
          >
            {state.form === 'ended' ? say.again : say.open}
          </button>
        )}
      </form>
      <div className={styles['state']} role="status" data-bad={isBad(state)}>
        {right === false ? say.forbidden : textOf(state, names.length, image)}
      </div>
      {shell === undefined ? null : (
        <Suspense fallback={null}>
          <Terminal
            key={shell.at}
            target={shell.target}
            onOpened={(name) => setState({ form: 'open', container: name })}
            onEnded={(how) => setState({ form: 'ended', end: how })}
            onLeft={() => next.current?.focus()}
          />
        </Suspense>
      )}
    </div>
  )
}

function isBad(state: State): boolean {
  return state.form === 'ended' && state.end.code !== 'EXITED'
}

function textOf(state: State, containers: number, image: string | undefined): string {
  switch (state.form) {
    case 'asking':
      return containers === 0 ? say.noContainers : image === undefined ? '' : say.debugNote
    case 'opening':
      return say.opening
    case 'open':
      return say.openIn(state.container)
    case 'ended': {
      const { code, message, hint, exitCode } = state.end
      if (code === 'EXITED') return say.exited(exitCode)
      return `${say.ended}: ${message}${hint === undefined ? '' : `. ${hint}`} (${code})`
    }
  }
}

/** The containers of a pod that run. */
function containersOf(json: unknown): readonly string[] {
  const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']
  return lists.flatMap((list) =>
    listAt(json, 'status', list).flatMap((status) =>
      valueAt(status, 'state', 'running') === undefined ? [] : (textAt(status, 'name') ?? []),
    ),
  )
}
