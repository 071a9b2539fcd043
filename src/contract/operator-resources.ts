/**
 * Internal operations, which are not served to clients. A surface in one process calls them in the
 * process that owns the workspace.
 */
import { area } from './op.ts'
import { generations } from './operator/generations.ts'
import { inbound } from './operator/inbound.ts'

export const operatorResources = area('operator', {
  generations: { about: 'Records being generated.', group: generations },
  inbound: { about: 'What comes in from outside.', group: inbound },
})
