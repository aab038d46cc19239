import { FitAddon } from '@xterm/addon-fit'
import { type ITheme, Terminal as XTerminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef } from 'react'
import { useGateway } from '../gateway/gateway.ts'
import { pageNonce } from '../look/page-nonce.ts'
import { onThemeChange } from '../look/theme.ts'
import { type ShellEnd, ShellSession, type ShellTarget } from './shell-session.ts'
import styles from './shell-tab.module.css'
import { shellWords } from './shell-words.ts'

/** A terminal with a shell, from its opening to its end. What was printed stays afterwards. */
export function Terminal({
  target,
  onOpened,
  onEnded,
  onLeft,
}: {
  readonly target: ShellTarget
  readonly onOpened: (container: string) => void
  readonly onEnded: (end: ShellEnd) => void
  /** The user leaves it by the keyboard. */
  readonly onLeft: () => void
}) {
  const gateway = useGateway()
  const place = useRef<HTMLDivElement>(null)
  const called = useRef({ onOpened, onEnded, onLeft })
  useEffect(() => {
    called.current = { onOpened, onEnded, onLeft }
  })
  useEffect(() => {
    const parent = place.current
    if (parent === null) return
    const terminal = new XTerminal({
      fontFamily: getComputedStyle(parent).fontFamily,
      fontSize: 13,
      minimumContrastRatio: 4.5,
      screenReaderMode: true,
      theme: themeOf(parent),
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    openStrictly(terminal, parent)
    fit.fit()
    const sizeOf = ({ cols, rows }: XTerminal) => ({ columns: cols, rows })
    const session = new ShellSession(gateway, target, sizeOf(terminal), {
      opened: (container) => {
        called.current.onOpened(container)
        terminal.focus()
      },
      printed: (bytes) => terminal.write(bytes),
      ended: (end) => {
        terminal.options.disableStdin = true
        called.current.onEnded(end)
      },
    })
    terminal.onData((text) => session.type(text))
    terminal.onBinary((text) => session.type(text))
    terminal.onResize(() => session.resize(sizeOf(terminal)))
    terminal.attachCustomKeyEventHandler((event) => {
      const { key, ctrlKey, type } = event
      if (ctrlKey && key === ']') {
        if (type === 'keydown') called.current.onLeft()
        return false
      }
      // With a selection, Ctrl+C copies as in any text, and Ctrl+V pastes.
      if (ctrlKey && key === 'c' && terminal.hasSelection()) return false
      return !(ctrlKey && key === 'v')
    })
    const observer = new ResizeObserver(() => fit.fit())
    observer.observe(parent)
    const stopTheme = onThemeChange(() => {
      terminal.options.theme = themeOf(parent)
    })
    return () => {
      observer.disconnect()
      stopTheme()
      session.close()
      terminal.dispose()
    }
  }, [gateway, target])
  return (
    <div ref={place} className={styles['terminal']} role="group" aria-label={shellWords.terminal} />
  )
}

function themeOf(parent: HTMLElement): ITheme {
  const { backgroundColor: background, color: foreground } = getComputedStyle(parent)
  return { background, foreground, cursor: foreground, selectionBackground: '#72a7ff66' }
}

/** The part of xterm that writes colours of texts. */
interface Internals {
  readonly _core?: {
    readonly _renderService?: {
      readonly _renderer?: {
        readonly value?: {
          readonly _rowFactory?: { _addStyle?: (element: HTMLElement, style: string) => void }
        }
      }
    }
  }
}

/**
 * Opens the terminal within the Content Security Policy of the page, which xterm 6.0.0 knows nothing of. The style elements
 * that it makes while it opens get the nonce. It then writes the colours of texts as style attributes, which no nonce
 * allows; here they are properties of the style. A later version without that method would only lack these colours.
 */
function openStrictly(terminal: XTerminal, parent: HTMLElement): void {
  const create = document.createElement.bind(document)
  document.createElement = (name: string): HTMLElement => {
    const element = create(name)
    if (element instanceof HTMLStyleElement) element.nonce = pageNonce()
    return element
  }
  try {
    terminal.open(parent)
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
  const rows = (terminal as Internals)._core?._renderService?._renderer?.value?._rowFactory
  if (rows?._addStyle === undefined) return
  rows._addStyle = (element, style) => {
    element.style.cssText += `;${style}`
  }
}
