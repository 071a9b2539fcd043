/** In a process of its own: the simulation puts other modules in the place of the store. */
export const runIn = async (cwd: string, script: string, ...args: string[]) => {
  const child = Bun.spawn([process.execPath, '--no-orphans', `test/sim/${script}.ts`, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [printed, complained] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, printed, complained }
}

export const run = (script: string, ...args: string[]) => runIn('.', script, ...args)
