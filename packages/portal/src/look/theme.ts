import { pageState } from '../page-state.ts'

export type Theme = 'system' | 'light' | 'dark'

const kept = 'informerql.theme'
const state = pageState()

function themeKept(): Theme {
  const theme = localStorage.getItem(kept)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Gives the page its theme: the user's choice, or that of the system. */
export function applyTheme(): void {
  const theme = themeKept()
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
}

/** The theme, and a function that changes and keeps it. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const theme = state.useState(themeKept)
  return [
    theme,
    (next) => {
      localStorage.setItem(kept, next)
      applyTheme()
      state.changed()
    },
  ]
}

/** Calls `changed` when the page has another theme. Returns a function that stops this. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  const isDark = matchMedia('(prefers-color-scheme: dark)')
  isDark.addEventListener('change', changed)
  return () => {
    observer.disconnect()
    isDark.removeEventListener('change', changed)
  }
}
