import type { Effects } from '#store/engine/letter'
import type { TestApp } from './app.ts'

export interface Workspace {
  app: TestApp
  tenantId: string
  /** A key with every scope. */
  key: string
  /** The access token of an owner, for operations that need a person. */
  session: string
}

/** Writes rows of a workspace through a letter, as commands do. */
export const write = (
  { app, tenantId }: Pick<Workspace, 'app' | 'tenantId'>,
  effects: Effects,
): Promise<void> =>
  app.workplace.world.ask(tenantId, {
    name: 'arrange',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
    decide: async () => ({ reply: undefined, effects }),
  })
