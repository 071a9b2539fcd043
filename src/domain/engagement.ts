/** What people do with somebody else's post on the network. */
export const engageActions = ['reply', 'quote', 'repost', 'like'] as const
export type EngageAction = (typeof engageActions)[number]
