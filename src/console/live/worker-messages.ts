/** What a tab says to the shared worker. */
export type FromTab = { said: 'here'; workspace: string } | { said: 'gone' }
