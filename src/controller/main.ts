#!/usr/bin/env node
/** The program of `@informerql/controller`: `npx @informerql/controller types --crd FILE`. */
import '../lib/node-version.ts'
import { CodedError } from '../lib/coded-error.ts'
import { typesCommand } from './types-command.ts'

const [command, ...args] = process.argv.slice(2)
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE: the reader has closed the pipe, as in `… types --cluster | head`.
  if (error.code !== 'EPIPE') throw error
})
if (command === 'types') {
  try {
    await typesCommand(args, {
      name: 'informerql-controller',
      importFrom: '@informerql/controller/kubernetes',
      print: (text) => void process.stdout.write(text),
    })
  } catch (error) {
    if (!(error instanceof CodedError)) throw error
    const hint = error.hint === undefined ? '' : `\n  ${error.hint}`
    process.stderr.write(`informerql-controller: ${error.message}${hint}\n`)
    process.exitCode = error.code === 'USAGE' ? 2 : 1
  }
} else {
  process.stderr.write(
    'Usage: informerql-controller types [options]\n\nSee informerql-controller types --help\n',
  )
  process.exitCode = 2
}
