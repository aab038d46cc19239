import { useEffect, useRef, useState } from 'react'
import type { TableColumn } from '../kinds/columns.ts'
import { idsOf, mostPicked } from '../kinds/picked.ts'
import type { ListArguments } from '../kinds/use-live-rows.ts'
import { useGateway } from '../gateway/gateway.ts'
import { words } from '../words.ts'
import { type Exported, type ExportForm, exportObjects, exportRows } from './export-objects.ts'

const say = words.export

/** What is exported: the selection, or all that the table lists. */
export interface ExportSource {
  /** `pods`: the file has its name. */
  readonly resource: string
  readonly list: ListArguments
  /** Those that are shown, and those that tell rows apart: a file leaves its page. */
  readonly columns: readonly TableColumn[]
  /** Empty: all that the table lists. */
  readonly picked: ReadonlySet<string>
}

/** How long what has become of an export is shown. A failure stays. */
const shownMs = 8_000

/** An export that goes on, or what has become of the last one, until the table lists something else. */
export interface Exporting {
  readonly begin: (form: ExportForm) => void
  /** Ends it, or forgets what is said. */
  readonly dismiss: () => void
  readonly isRunning: boolean
  readonly says: string | undefined
}

/** Writes the objects of a table into a file. */
export function useExport({ resource, list, columns, picked }: ExportSource): Exporting {
  const gateway = useGateway()
  const [running, setRunning] = useState<AbortController>()
  const [says, setSays] = useState<string>()
  const [isDone, setDone] = useState(false)
  useEffect(() => () => running?.abort(), [running])
  useEffect(() => {
    if (!isDone) return undefined
    const timer = setTimeout(() => setSays(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [isDone])
  const view = `${resource} ${JSON.stringify(list)}`
  const isRunning = useRef(false)
  isRunning.current = running !== undefined
  useEffect(() => {
    if (!isRunning.current) setSays(undefined)
  }, [view])

  const run = async (form: ExportForm, { signal }: AbortController): Promise<string> => {
    const ids = picked.size > 0 ? [...picked] : await idsOf(gateway, list, signal)
    const told = (read: number): void => setSays(say.reading(read, ids.length))
    const options = { gateway, ids, signal, told }
    told(0)
    const { kind, columns: hasColumns, wide } = list
    const exported: Exported =
      form === 'csv'
        ? await exportRows({ kind, columns, hasColumns, wide }, options)
        : await exportObjects(form, options)
    save(exported.text, `${resource}.${form}`, types[form])
    const gone = ids.length - exported.objects
    return [
      say.done(exported.objects),
      ...(gone > 0 ? [say.gone(gone)] : []),
      ...(picked.size === 0 && ids.length === mostPicked ? [say.cut(mostPicked)] : []),
    ].join(' ')
  }
  return {
    isRunning: running !== undefined,
    says,
    begin(form) {
      const controller = new AbortController()
      setRunning(controller)
      setDone(false)
      void run(form, controller)
        .then(
          (done) => {
            setSays(done)
            setDone(true)
          },
          (error: unknown) =>
            setSays(controller.signal.aborted ? undefined : say.failed((error as Error).message)),
        )
        .finally(() => setRunning(undefined))
    },
    dismiss() {
      running?.abort()
      setSays(undefined)
    },
  }
}

const types = {
  csv: 'text/csv',
  yaml: 'application/yaml',
  json: 'application/json',
} as const satisfies Readonly<Record<ExportForm, string>>

/** Has the browser keep a text as a file. */
function save(text: string, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url))
}
