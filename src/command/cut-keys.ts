import type { SimulatedFleet } from '../simulator/simulated-fleet.ts'

/** The part of a terminal's input that is used. */
export interface KeyInput {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
  on(event: 'data', listener: (keys: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

interface CutKeysOptions {
  readonly fleet: SimulatedFleet
  readonly print: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Follows the keys of a terminal until the signal aborts: `1` cuts the first cluster off, or mends it if it is cut, and
 * so on. Returns `false` if the input is no terminal.
 */
export function followCutKeys(input: KeyInput, { fleet, print, signal }: CutKeysOptions): boolean {
  if (input.isTTY !== true || input.setRawMode === undefined || signal.aborted) return false
  input.setRawMode(true)
  input.resume()
  input.on('data', (keys) => {
    for (const key of keys.toString()) {
      const end = signals[key]
      if (end === undefined) press(fleet, Number(key) - 1, print)
      else process.kill(process.pid, end)
    }
  })
  signal.addEventListener(
    'abort',
    () => {
      input.setRawMode?.(false)
      input.pause()
    },
    { once: true },
  )
  return true
}

/** What a terminal in raw mode no longer makes of its keys. */
const signals: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001C': 'SIGQUIT',
}

function press({ clusters }: SimulatedFleet, index: number, print: (text: string) => void): void {
  const cluster = clusters[index]
  if (cluster === undefined) return
  const { name, simulator } = cluster
  const isServed = simulator.faults.connections === 'served'
  simulator.faults.inject({ fault: { type: isServed ? 'cut' : 'mend' } })
  print(isServed ? `${name} is cut off; ${index + 1} mends it.\n` : `${name} is mended.\n`)
}
