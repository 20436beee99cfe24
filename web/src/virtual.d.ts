declare module 'virtual:icons' {
  const drawings: Record<string, [tag: string, attributes: Record<string, string>][]>;
  export default drawings;
}
