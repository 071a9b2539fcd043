import { mock } from 'bun:test'

/** Puts these exports in the place of a module's own for everything that is imported after this. */
export const replace = async (specifier: string, fake: object): Promise<void> => {
  const real = { ...(await import(specifier)) }
  for (const name of Object.keys(fake))
    if (!(name in real)) throw new Error(`${specifier} has no ${name} any more`)
  mock.module(Bun.resolveSync(specifier, import.meta.dir), () => ({ ...real, ...fake }))
}
