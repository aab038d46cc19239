/** The texts of shells in containers, and of port-forwards. */
export const shellWords = {
  container: 'Container',
  command: 'Command',
  debug: 'In a new debug container',
  image: 'Image of the debug container',
  debugNote: 'It is added to the pod, and stays there until the pod is deleted.',
  open: 'Open a shell',
  again: 'Open it again',
  end: 'End the shell',
  opening: 'The container is asked…',
  openIn: (container: string): string => `Open in ${container}. Ctrl+] leaves the terminal.`,
  terminal: 'Terminal',
  exited: (code: number | undefined): string => `The process has exited with ${code ?? '?'}.`,
  ended: 'The shell has ended',
  lost: 'The connection to the gateway is lost.',
  noContainers: 'No container of this pod runs.',
  forbidden:
    'You may not open a shell here: that needs the right to create pods/exec in this namespace.',
  forward: {
    title: 'Port-forward',
    note: 'Run it on your machine. It takes the context of your kubeconfig that has the name of the cluster.',
    copy: 'Copy the command',
    copied: 'Copied',
  },
} as const
