/**
 * Internal operations, which are not served to clients. A surface in one process calls them in the
 * process that owns the workspace.
 */
import { area } from './op.ts'
import { authorizations } from './operator/authorizations.ts'
import { generations } from './operator/generations.ts'
import { inbound } from './operator/inbound.ts'

export const operatorResources = area('operator', {
  authorizations: { about: 'Sign-ins to accounts, as they end.', group: authorizations },
  generations: { about: 'Records being generated.', group: generations },
  inbound: { about: 'What comes in from outside.', group: inbound },
})
