/**
 * Tendril, one program: the server, the operators' commands and the command line. ARCHITECTURE.md is the way into the code.
 * Each way imports its own part when it is taken: the command line starts without the server's code, and the reverse.
 */

/** Ends the process: a server's listeners and timers would keep it. */
const ends = (run: Promise<number>): Promise<void> =>
  run.then(
    (code) => process.exit(code),
    (cause) => {
      console.error(`tendril: ${cause instanceof Error ? cause.message : String(cause)}`)
      process.exit(1)
    },
  )

const [command = 'serve', ...rest] = process.argv.slice(2)

/** What the environment sets up takes no words: one that is not obeyed must not be passed over. */
const alone = async (run: () => Promise<number>): Promise<number> => {
  if (rest.length === 0) return run()
  console.error(`tendril ${command} takes no arguments; the environment sets it up, as the README says`)
  return rest.includes('--help') ? 0 : 2
}

const ways: Record<string, () => Promise<void>> = {
  serve: () => ends(alone(() => import('./server/serve.ts').then(({ serve }) => serve()).then(() => 0))),
  admin: () => ends(import('./admin/admin.ts').then(({ admin }) => admin(rest))),
  health: () => ends(alone(() => import('./server/health.ts').then(({ health }) => health()))),
}

const way = Object.hasOwn(ways, command) ? ways[command] : undefined
await (way?.() ?? import('./cli/process.ts').then(({ main }) => main({ server: ['serve', 'admin', 'health'] })))
