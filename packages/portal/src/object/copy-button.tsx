import { useEffect, useState } from 'react'
import styles from './summary.module.css'
import { pageWords } from './page-words.ts'

/** Copies a text. `what`: its name. */
export function CopyButton({ what, text }: { readonly what: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <button
      type="button"
      className={styles['link']}
      aria-label={isCopied ? pageWords.copiedWhat(what) : pageWords.copy(what)}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? pageWords.copied : pageWords.copyShort}
    </button>
  )
}
