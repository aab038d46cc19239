#!/usr/bin/env node
/** The program. Only this file must run on every Node, so that it can say which one is needed. */
const needed = [22, 19] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `informerql: needs Node ${needed.join('.')} or later; this is ${process.version}\n`,
  )
  process.exitCode = 1
} else {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever read the output has read enough: `informerql schema | head`.
    if (error.code !== 'EPIPE') throw error
  })
  const { runCommandLine } = await import('./command/command-line.ts')
  process.exitCode = await runCommandLine(process.argv.slice(2))
  // Signals are listened to until the end, which keeps nothing alive; a connection that was forgotten would.
  setTimeout(() => process.exit(), 2_000).unref()
}
