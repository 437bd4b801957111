write graph_list.txt
  ../../../../etc
  /etc
